"""Sampling from the exact rows of a graph: one uniform draw per step, looked up in its row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.graph.latent import LatentGraph

ALWAYS_ABOVE = 2.0
"""Stands for a cumulative probability of one, so that rounding never leads past a row's last target."""


class RowTables(NamedTuple):
    """The rows of a graph as (nodes, actions, k) tables, padded to the longest row."""

    targets: NDArray[np.int64]
    cumulative: NDArray[np.float64]

    @classmethod
    def of(cls, graph: LatentGraph) -> RowTables:
        """Return the tables of `graph`."""
        pair = graph.source * graph.n_actions + graph.action
        order = np.argsort(pair, kind="stable")
        pair = pair[order]
        lengths = np.bincount(pair, minlength=graph.n_nodes * graph.n_actions)
        place = np.arange(len(pair)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        probability = np.zeros((len(lengths), int(lengths.max())))
        targets = np.zeros(probability.shape, np.int64)
        probability[pair, place] = graph.probability[order]
        targets[pair, place] = graph.target[order]
        cumulative = np.cumsum(probability, axis=1)
        cumulative[np.arange(probability.shape[1]) >= lengths[:, None] - 1] = ALWAYS_ABOVE
        shape = (graph.n_nodes, graph.n_actions, -1)
        return cls(targets.reshape(shape), cumulative.reshape(shape))

    def follow(self, node: int, action: int, *, uniform: float) -> int:
        """Return the node that `uniform`, a draw from [0, 1), leads to."""
        place = self.cumulative[node, action].searchsorted(uniform, side="right")
        return int(self.targets[node, action, place])

    def walk(
        self, start: NDArray[np.int64], actions: NDArray[np.int64], *, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the (walks, steps + 1) nodes of walks that take `actions`, (walks, steps), from `start`."""
        nodes = np.empty((actions.shape[1] + 1, len(start)), np.int64)
        nodes[0] = start
        for step, action in enumerate(np.ascontiguousarray(actions.T)):
            here = nodes[step]
            uniform = rng.random(len(start))
            place = (self.cumulative[here, action] <= uniform[:, None]).sum(axis=1)
            nodes[step + 1] = self.targets[here, action, place]
        return np.ascontiguousarray(nodes.T)
