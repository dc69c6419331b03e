"""Changed graphs: nodes merged, weak edges pruned, actions blocked, led elsewhere or renumbered, some nodes only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from efex import checks
from efex.errors import InvalidArgumentError
from efex.graph.latent import LatentGraph
from efex.graph.refinement import Blocks, partition
from efex.graph.tags import rename_tags


def merge_equivalent(graph: LatentGraph, *, tolerance: float = 0.0) -> LatentGraph:
    """Return the graph with one node per class of equivalent nodes, in order of their first members.

    Counts add up. A row is the mean of its members' rows: weighted by their visits, or equally where those
    are infinite. Coordinates are averaged, the utility is the largest, and tags are those of all members; of
    two tags with one name, the first member's.
    """
    checks.tolerance("tolerance", tolerance)
    return quotient(graph, partition(graph, tolerance=tolerance))


def quotient(graph: LatentGraph, blocks: Blocks) -> LatentGraph:
    """Return the graph with one node per block; blocks are numbered from 0 by first member."""
    size = np.bincount(blocks)
    _, first = np.unique(blocks, return_index=True)
    width = max(graph.n_nodes, 1)
    key = (graph.action * width + blocks[graph.source]) * width + blocks[graph.target]
    merged, edge = np.unique(key, return_inverse=True)
    weight = _row_weights(graph, blocks)[graph.source, graph.action]
    probability = np.bincount(edge, weight * graph.probability, len(merged))
    row = merged // width
    totals = np.bincount(row, probability, graph.n_actions * width)
    coordinates, utility = graph.coordinates, graph.utility
    if coordinates is not None:
        sums = np.zeros((len(size), *coordinates.shape[1:]))
        np.add.at(sums, blocks, coordinates)
        coordinates = (sums.T / size).T
    if utility is not None:
        largest = np.full(len(size), -math.inf)
        np.maximum.at(largest, blocks, utility)
        utility = largest
    closed = graph.closed
    if closed is not None:
        every = np.ones((len(size), graph.n_actions), bool)
        np.logical_and.at(every, blocks, closed)
        closed = every
    return replace(
        graph,
        observations=tuple(graph.observations[node] for node in first),
        source=row % width,
        action=row // width,
        target=merged % width,
        probability=probability / totals[row],
        count=np.bincount(edge, graph.count, len(merged)).astype(np.float64),
        starts=tuple(sorted({int(blocks[start]) for start in graph.starts})),
        coordinates=coordinates,
        utility=utility,
        closed=closed,
        tags=rename_tags(graph.tags, blocks),
    )


def _row_weights(graph: LatentGraph, blocks: Blocks) -> NDArray[np.float64]:
    """Return how much each (node, action) row counts in the mean over its class; only ratios matter."""
    exact = np.isinf(graph.visits)
    any_exact = np.zeros(graph.visits.shape, bool)
    np.logical_or.at(any_exact, blocks, exact)
    weights = np.where(any_exact[blocks], exact, graph.visits)
    totals = np.zeros(graph.visits.shape)
    np.add.at(totals, blocks, weights)
    return np.where(totals[blocks] > 0, weights, graph.tried)


def prune(graph: LatentGraph, *, min_probability: float = 0.0, min_count: float = 0.0) -> LatentGraph:
    """Return the graph without edges below either bound, rows made to sum to one again.

    A row that loses all its edges becomes untried. Nodes left without any edge are dropped; of starts,
    only those that were walked away from just once, since no more than one episode went on from there.
    """
    bounds: dict[str, Any] = {"min_probability": min_probability, "min_count": min_count}
    for name, bound in bounds.items():
        if isinstance(bound, bool) or not (isinstance(bound, Real) and float(bound) >= 0):
            raise InvalidArgumentError(f"{name} must be a number of at least 0, not {bound!r}")
    keep = (graph.probability >= min_probability) & (graph.count >= min_count) & (graph.probability > 0)
    used = np.zeros(graph.n_nodes, bool)
    used[np.concatenate([graph.source[keep], graph.target[keep]])] = True
    departures = _departures(graph)
    used[[start for start in graph.starts if departures[start] != 1]] = True
    totals = np.zeros((graph.n_nodes, graph.n_actions))
    np.add.at(totals, (graph.source[keep], graph.action[keep]), graph.probability[keep])
    pruned = replace(
        graph,
        source=graph.source[keep],
        action=graph.action[keep],
        target=graph.target[keep],
        probability=graph.probability[keep] / totals[graph.source[keep], graph.action[keep]],
        count=graph.count[keep],
    )
    return subgraph(pruned, np.flatnonzero(used))


def _departures(graph: LatentGraph) -> NDArray[np.float64]:
    """Return how often each node was walked away from, to another."""
    away = graph.source != graph.target
    return np.bincount(graph.source[away], graph.count[away], graph.n_nodes).astype(np.float64)


def block(graph: LatentGraph, source: int, action: int) -> LatentGraph:
    """Return the graph in which `action` can no longer be taken at `source`: its edges gone, the pair closed."""
    if checks.whole("node", source, at_least=0) >= graph.n_nodes:
        raise InvalidArgumentError(f"node must be one of 0 to {graph.n_nodes - 1}, not {source!r}")
    keep = (graph.source != source) | (graph.action != action)
    columns = {name: getattr(graph, name)[keep] for name in ("source", "action", "target", "probability", "count")}
    closed = np.zeros((graph.n_nodes, graph.n_actions), bool) if graph.closed is None else graph.closed.copy()
    closed[source, action] = True
    return replace(graph, closed=closed, **columns)


def redirect(graph: LatentGraph, source: int, action: int, target: int) -> LatentGraph:
    """Return the graph in which `action` at `source` leads to `target` for sure."""
    rest = block(graph, source, action)
    return replace(
        graph,
        source=np.append(rest.source, source),
        action=np.append(rest.action, action),
        target=np.append(rest.target, target),
        probability=np.append(rest.probability, 1.0),
        count=np.append(rest.count, math.inf),
    )


def renumber_actions(graph: LatentGraph, order: Sequence[int]) -> LatentGraph:
    """Return the same graph with action i renumbered to `order[i]`, a permutation; names stay with their actions."""
    new = np.asarray(order, np.int64)
    if sorted(new.tolist()) != list(range(graph.n_actions)):
        raise InvalidArgumentError(f"order must be a permutation of 0 to {graph.n_actions - 1}, not {order!r}")
    old = np.argsort(new)
    names = graph.action_names
    return replace(
        graph,
        action=new[graph.action],
        closed=None if graph.closed is None else graph.closed[:, old],
        action_names=None if names is None else tuple(names[action] for action in old),
    )


def subgraph(graph: LatentGraph, nodes: NDArray[np.int64]) -> LatentGraph:
    """Return the graph of `nodes`, sorted, which hold both ends of every edge they send; other starts are dropped."""
    new = np.full(graph.n_nodes, -1)
    new[nodes] = np.arange(len(nodes))
    keep = new[graph.source] >= 0
    return replace(
        graph,
        observations=tuple(graph.observations[node] for node in nodes),
        source=new[graph.source[keep]],
        action=graph.action[keep],
        target=new[graph.target[keep]],
        probability=graph.probability[keep],
        count=graph.count[keep],
        starts=tuple(int(new[start]) for start in graph.starts if new[start] >= 0),
        coordinates=None if graph.coordinates is None else graph.coordinates[nodes],
        utility=None if graph.utility is None else graph.utility[nodes],
        closed=None if graph.closed is None else graph.closed[nodes],
        tags=rename_tags(graph.tags, new),
    )
