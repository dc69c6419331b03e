"""Tour: what exploring would cost if the map were known. It is given the truth, so it is no explorer."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from efex.agents.base import Agent, Mask, Recovery
from efex.errors import EfexError
from efex.worlds import GraphWorld


class Tour(Agent):
    """Tries every (node, action) once: it walks to the nearest node where something is left to try.

    Where edges are stochastic the way is the shortest of possible ones, chosen again after every step.
    """

    def __init__(self, world: GraphWorld) -> None:
        self._world = world
        truth = world.truth
        self._left = truth.tried.copy()
        self._chances = np.stack([truth.transition(action).toarray() for action in range(truth.n_actions)])
        shape = (truth.n_nodes, truth.n_nodes)
        self._reach = sp.csr_array((np.ones(truth.n_edges), (truth.source, truth.target)), shape=shape)

    def choose(self, mask: Mask | None) -> int:
        """Return an action never tried here, or one on the way to the nearest node that has one."""
        node = self._world.node
        untried = np.flatnonzero(self._left[node])
        if len(untried) == 0:
            return self._towards(node)
        action = int(untried[0])
        self._left[node, action] = False
        return action

    def _towards(self, node: int) -> int:
        order, before = breadth_first_order(self._reach, node)
        goals = [z for z in order if self._left[z].any()]
        if not goals:
            return int(self.rng.integers(self.experience.n_actions))
        step = goals[0]
        while before[step] != node:
            step = before[step]
        return int(np.argmax(self._chances[:, node, step]))

    def recover(self) -> Recovery:
        """Refuse: nothing is recovered by who knows it all."""
        raise EfexError("the tour knows the map; it does not recover one, so its case takes no marks")
