"""Memory: a known graph as a walk over each of its edges, as if somebody had just walked it."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Alphabet, Experience
from efex.graph.latent import LatentGraph

TIMES = 2
"""How often every edge is walked: once is not enough to tell that places which look alike are two."""


class Memory(NamedTuple):
    """Walks that take every edge of a graph so many TIMES at least, and the node at every observation of them."""

    experience: Experience
    nodes: NDArray[np.int64]


def remembered(graph: LatentGraph, alphabet: Alphabet) -> Memory:
    """Return walks over all edges of a graph, each time to the nearest edge left, its symbols in `alphabet`.

    They begin where the graph's episodes do, and wherever else there is something left that cannot be reached.
    """
    onward: list[list[tuple[int, int]]] = [[] for _ in range(graph.n_nodes)]
    for source, action, target in zip(graph.source.tolist(), graph.action.tolist(), graph.target.tolist()):
        onward[source].append((action, target))
    left = [TIMES * edges for edges in onward]
    walks, nodes = Experience(graph.n_actions, alphabet=alphabet), list[int]()
    for first in [*graph.starts, *range(graph.n_nodes)]:
        here = -1
        while route := _to_the_nearest(first if here < 0 else here, left, onward):
            if here < 0:
                walks.begin(graph.observations[first])
                nodes.append(first)
                here = first
            for action, target in route:
                walks.append(action, graph.observations[target])
                nodes.append(target)
                if (action, target) in left[here]:
                    left[here].remove((action, target))
                here = target
    return Memory(walks, np.array(nodes, np.int64))


def _to_the_nearest(
    node: int, left: list[list[tuple[int, int]]], onward: list[list[tuple[int, int]]]
) -> list[tuple[int, int]]:
    """Return the edges of a shortest way from a node through an edge that is left, none where there is no such way."""
    came: dict[int, tuple[int, tuple[int, int]] | None] = {node: None}
    queue = deque([node])
    while queue:
        here = queue.popleft()
        if left[here]:
            route, at = [left[here][0]], here
            while (before := came[at]) is not None:
                at, edge = before
                route.append(edge)
            return route[::-1]
        for edge in onward[here]:
            if edge[1] not in came:
                came[edge[1]] = (here, edge)
                queue.append(edge[1])
    return []
