"""Steps: what a graph's actions most likely do, where they lead elsewhere at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from efex.graph.structure import Structure

Ids = NDArray[np.int64]

LIKELY = 0.5
"""Edges at most this share of their row's likeliest, such as teleports and slips, would fold a picture."""


class Steps(NamedTuple):
    """Steps from one of n nodes to another, and by which of so many actions."""

    source: Ids
    action: Ids
    target: Ids
    n: int
    n_actions: int


def likely_steps(graph: Structure) -> Steps:
    """Return the likely edges of a graph, without loops."""
    likeliest = np.zeros((graph.n_nodes, graph.n_actions))
    np.maximum.at(likeliest, (graph.source, graph.action), graph.probability)
    common = graph.probability > LIKELY * likeliest[graph.source, graph.action]
    keep = common & (graph.source != graph.target)
    return Steps(graph.source[keep], graph.action[keep], graph.target[keep], graph.n_nodes, graph.n_actions)


def neighbours(steps: Steps) -> sp.csr_array:
    """Return the matrix that has a 1 where a step leads from one node to another, in either direction."""
    ends = np.concatenate([steps.source, steps.target]), np.concatenate([steps.target, steps.source])
    found = sp.csr_array((np.ones(len(ends[0])), ends), shape=(steps.n, steps.n))
    found.data[:] = 1.0
    return found


def components(steps: Steps) -> tuple[int, NDArray[np.int32]]:
    """Return how many parts there are that no step joins, and which one every node is in."""
    n, part = connected_components(neighbours(steps), directed=False)
    return n, part
