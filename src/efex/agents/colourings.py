"""Colourings: where a walk may be on a known graph whose nodes show nobody knows what.

A hypothesis says at which node the walk is and what every node visited so far shows. Nodes show one symbol each, so a
hypothesis that comes back to a node and sees something else there is wrong, and one that comes back and sees the same
is right where others needed a coincidence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.graph.latent import LatentGraph

UNSEEN = -1
"""The colour of a node that was not visited yet."""

MOST = 1_000
"""How many hypotheses are followed at most."""

UNLIKELY = 20.0
"""Hypotheses that are so many nats less likely than the best one are dropped."""

ELSEWHERE = 0.01
"""The probability that an episode begins at a node where none was known to begin."""

STRAY = 0.01
"""The probability of a step that the graph does not know."""


class Steps(NamedTuple):
    """Hypotheses gone on: which one, to which node, and the log-probability of that."""

    parent: NDArray[np.int64]
    node: NDArray[np.int64]
    chance: NDArray[np.float64]


class Colourings:
    """The hypotheses about one walk, the likeliest first."""

    def __init__(self, graph: LatentGraph) -> None:
        n = self._n = graph.n_nodes
        self._n_actions = graph.n_actions
        self._rows = np.searchsorted(graph.action * n + graph.source, np.arange(n * graph.n_actions + 1))
        self._target, self._log_probability = graph.target, np.log(graph.probability)
        starts = np.full(n, ELSEWHERE / n if graph.starts else 1 / n)
        if graph.starts:
            starts[list(graph.starts)] += (1 - ELSEWHERE) / len(graph.starts)
        self._log_start = np.log(starts)
        self._log_new = -np.log(max(len(graph.symbols), 2))
        self._parents: list[NDArray[np.int64]] = []
        self._nodes: list[NDArray[np.int64]] = []
        self.node = np.zeros(1, np.int64)
        """The node where each hypothesis is."""
        self.colours = np.full((1, n), UNSEEN, np.int32)
        """The code of what every node shows, under each hypothesis."""
        self.walked = np.zeros((1, n, graph.n_actions), bool)
        """Which pairs were walked, under each hypothesis."""
        self.shut = np.zeros((1, n, graph.n_actions), bool)
        """Which pairs were unavailable when one was there last, under each hypothesis."""
        self.strays = np.zeros(1, np.int64)
        """How many steps of each hypothesis the graph does not know."""
        self.weight = np.zeros(1)
        """The log-probability of each hypothesis, relative to the best one."""

    def begin(self, code: int) -> bool:
        """Take in that an episode begins where `code` is seen; return whether there is a node that can show it."""
        return self._see(self._anywhere(np.arange(len(self.node)), self._log_start), code)

    def step(self, action: int, code: int) -> bool:
        """Take in that `action` led to where `code` is seen; return whether there is a node that can show it."""
        every = np.arange(len(self.node))
        self.walked[every, self.node, action] = True
        row = action * self._n + self.node
        begin, length = self._rows[row], self._rows[row + 1] - self._rows[row]
        parent = np.repeat(every, length)
        edge = np.repeat(begin, length) + np.arange(len(parent)) - np.repeat(np.cumsum(length) - length, length)
        # An untried pair may lead anywhere, and the likeliest hypothesis may have met a closed door, or strayed.
        unknown = self._anywhere(np.flatnonzero(length == 0), np.full(self._n, -np.log(self._n)))
        ahead = Steps(parent, self._target[edge], self._log_probability[edge])
        stayed = Steps(every[:1], self.node[:1], np.full(1, np.log(STRAY / 2)))
        lost = every[:0] if self._explains(ahead, code) else every[:1]
        strayed = self._anywhere(lost, np.full(self._n, np.log(STRAY / 2 / self._n)))
        steps = Steps(*(np.concatenate(parts) for parts in zip(ahead, unknown, stayed, strayed)))
        return self._see(steps, code, strayed=1 + len(strayed.parent))

    def offer(self, available: NDArray[np.bool_] | None) -> None:
        """Take in which actions are available here, None where all are."""
        self.shut[np.arange(len(self.node)), self.node] = False if available is None else ~available

    def _explains(self, ahead: Steps, code: int) -> bool:
        """Return whether the likeliest hypothesis goes on to a node that can show `code`."""
        shown = self.colours[0, ahead.node[ahead.parent == 0]]
        return not len(shown) or bool(((shown == code) | (shown == UNSEEN)).any())

    def _anywhere(self, parent: NDArray[np.int64], chance: NDArray[np.float64]) -> Steps:
        """Return the hypotheses `parent` gone on to every node with its chance."""
        return Steps(np.repeat(parent, self._n), np.tile(np.arange(self._n), len(parent)), np.tile(chance, len(parent)))

    def _see(self, steps: Steps, code: int, *, strayed: int = 0) -> bool:
        """Go on with the steps to nodes that can show `code`, the last ones `strayed`; return whether there are any."""
        parent, node, chance = steps
        n_ahead = len(parent) - strayed
        shown = self.colours[parent, node]
        keep = np.flatnonzero((shown == code) | (shown == UNSEEN))
        if not len(keep):
            return False
        weight = self.weight[parent[keep]] + chance[keep] + np.where(shown[keep] == UNSEEN, self._log_new, 0.0)
        order = np.argsort(-weight, kind="stable")[:MOST]
        order = order[weight[order] >= weight[order[0]] - UNLIKELY]
        parent, self.node, self.weight = parent[keep[order]], node[keep[order]], weight[order] - weight[order[0]]
        if not np.array_equal(parent, np.arange(len(self.colours))):
            self.colours, self.walked, self.strays = self.colours[parent], self.walked[parent], self.strays[parent]
            self.shut = self.shut[parent]
        self.strays += keep[order] >= n_ahead
        self.colours[np.arange(len(parent)), self.node] = code
        self._parents.append(parent)
        self._nodes.append(self.node)
        return True

    @property
    def path(self) -> NDArray[np.int64]:
        """The node at every observation, under the best hypothesis."""
        path = np.empty(len(self._nodes), np.int64)
        at = 0
        for t in range(len(path) - 1, -1, -1):
            path[t] = self._nodes[t][at]
            at = self._parents[t][at]
        return path
