"""Arrivals: which actions were tried after coming to a place by an edge; two places taken for one differ in that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.arrays import State
from efex.experience import Experience


class Edge(NamedTuple):
    """A step between two states."""

    source: int
    action: int
    target: int


class Arrivals:
    """Knows, for every edge walked, which actions came right after it.

    What was only ever entered by one edge and left by one action may be another place that shows the same as the one
    it is taken for; the other actions, tried after that edge, would tell.
    """

    def __init__(self, path: NDArray[np.int64], experience: Experience) -> None:
        actions = experience.actions
        t = np.flatnonzero((actions[:-1] >= 0) & (actions[1:] >= 0))
        steps = (path[t], actions[t], path[t + 1], actions[t + 1])
        self._tried: set[tuple[int, ...]] = set(zip(*(each.tolist() for each in steps)))
        self._n_actions = experience.n_actions

    def keep(self) -> State:
        """Return what is known, to be kept."""
        return State({"tried": np.array(list(self._tried), np.int64).reshape(-1, 4)})

    def put_back(self, state: State) -> None:
        """Know what was kept."""
        self._tried = set(map(tuple, state.array("tried", np.int64, (None, 4)).tolist()))

    def add(self, edge: Edge, action: int) -> None:
        """Take in what was done after an edge."""
        self._tried.add((*edge, action))

    def untried(self, edge: Edge) -> NDArray[np.bool_]:
        """Return which actions never came right after the edge."""
        return np.array([(*edge, action) not in self._tried for action in range(self._n_actions)])

    def doubt(self, edge: Edge) -> NDArray[np.float64]:
        """Return how much every action would say about where the edge leads: 1 at first, less the more were tried."""
        untried = self.untried(edge)
        return np.asarray(untried / (1.0 + (~untried).sum()) ** 2)
