"""Whereabouts: the states where an agent may be, and what an action is worth and tells if it does not know which."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.belief import Belief
from efex.kernels.telling import telling
from efex.model.layout import CloneLayout
from efex.planning import Plan

LEAST = 1e-3
"""States less likely than this are left out."""

EXPECTED = 0.1
"""How many steps weighs what an action is expected to lead to at a place where it was never tried."""


class Whereabouts(NamedTuple):
    """States that show the same, with their chances, which sum to one."""

    states: NDArray[np.int64]
    chance: NDArray[np.float64]

    @classmethod
    def of_chances(cls, chance: NDArray[np.float64], *, first: int) -> Whereabouts:
        """Return those of the states from `first` on that are likely enough."""
        likely = np.flatnonzero(chance >= LEAST * chance.sum())
        return cls(first + likely, chance[likely] / chance[likely].sum())

    @classmethod
    def anywhere(cls, like: int, path: NDArray[np.int64], layout: CloneLayout) -> Whereabouts:
        """Return the states on the path that show what the state `like` shows, all as likely."""
        block = layout.block(int(layout.observation[like]))
        states = np.unique(path[(path >= block.start) & (path < block.stop)])
        return cls(states, np.full(len(states), 1 / len(states)))

    @property
    def is_known(self) -> bool:
        """Whether there is only one."""
        return len(self.states) == 1

    def action_values(self, plan: Plan) -> NDArray[np.float64]:
        """Return what every action is worth on average, in nats."""
        values = [plan.action_values(int(state)) for state in self.states]
        return np.asarray(self.chance @ np.array(values))

    def telling(self, belief: Belief, layout: CloneLayout) -> NDArray[np.float64]:
        """Return how much every action tells, by what is seen next, about which of the states it is, in nats."""
        look = int(layout.observation[self.states[0]])
        clones = (int(layout.first[look]), int(layout.sizes[look]), belief.n_actions, layout.n_observations)
        rows = (belief.start, belief.target, belief.count, layout.observation)
        return np.asarray(telling(*rows, *clones, self.states, self.chance, EXPECTED))
