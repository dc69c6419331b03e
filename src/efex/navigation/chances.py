"""Chances: where every action of a map may lead, also when the map is not quite right."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from efex.graph.latent import LatentGraph

ROW = 0.02
"""What an outcome that is not on the map weighs, in walks: the less, the more often the pair was walked."""

CHANGE = 1e-3
"""The least probability of an outcome that is not on the map, however well that is known: the world may change."""

SUSPECT = 0.5
"""The probability of an outcome that is not on the map where the last one was not."""

STAYING = 0.5
"""The share of what is not on the map that stays in place, as before a closed door; the rest goes anywhere."""


class Chances:
    """The transitions of a graph, of which none is impossible.

    With probability `doubt[node, action]`, one where the pair is untried, a step does not follow the map: it stays in
    place or goes anywhere.
    """

    def __init__(self, graph: LatentGraph) -> None:
        n = self.n_nodes = graph.n_nodes
        self.n_actions = graph.n_actions
        self.codes = graph.codes
        self.doubt = np.maximum(ROW / (graph.visits + ROW), CHANGE)
        self._keys = np.searchsorted(graph.action * n + graph.source, np.arange(n * graph.n_actions + 1))
        self._target, self._probability = graph.target, graph.probability
        self._known: dict[tuple[int, int], list[tuple[int, float]]] = {}
        with np.errstate(divide="ignore"):
            columns = graph.source, graph.target, np.log(graph.probability)
        ends = np.searchsorted(graph.action, np.arange(graph.n_actions + 1))
        self.edges = [tuple(column[a:b] for column in columns) for a, b in pairwise(ends.tolist())]
        """Source, target and log-probability of the edges of every action."""
        self._forward = [
            sp.csr_array((graph.transition(action) * (1 - self.doubt[:, action])[:, None]).T)
            for action in range(graph.n_actions)
        ]

    def advance(self, belief: NDArray[np.float64], action: int) -> NDArray[np.float64]:
        """Return the probability of every node after `action`, before anything is seen."""
        strayed = belief * self.doubt[:, action]
        anywhere = (1 - STAYING) * float(strayed.sum()) / self.n_nodes
        onward: NDArray[np.float64] = self._forward[action] @ belief
        return onward + STAYING * strayed + anywhere

    def suspect(self, node: int, action: int) -> None:
        """Doubt the pair as much as not from now on."""
        before, now = self.doubt[node, action], max(self.doubt[node, action], SUSPECT)
        forward = self._forward[action]
        forward.data[forward.indices == node] *= (1 - now) / (1 - before)
        self.doubt[node, action] = now

    def outcomes(self, node: int, action: int) -> list[tuple[int, float]]:
        """Return the nodes the map knows the pair to lead to, with their probabilities."""
        key = (node, action)
        if key not in self._known:
            at = action * self.n_nodes + node
            row = slice(self._keys[at], self._keys[at + 1])
            self._known[key] = list(zip(self._target[row].tolist(), self._probability[row].tolist()))
        return self._known[key]

    def likeliest(self, node: int, action: int) -> int:
        """Return the likeliest outcome of the pair, -1 where it is untried."""
        return max(self.outcomes(node, action), key=lambda outcome: outcome[1], default=(-1, 0.0))[0]

    def on_map(self, node: int, action: int, target: int) -> float:
        """Return the probability that the map gives a step; zero where it is not on the map."""
        return dict(self.outcomes(node, action)).get(target, 0.0)
