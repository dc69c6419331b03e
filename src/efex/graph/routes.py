"""The quickest routes to some nodes: a stochastic shortest path problem, solved exactly."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.graph.latent import LatentGraph

LEAK = 1e-12
"""The chance per step to be let off while policies are compared: it keeps the values of hopeless ones finite."""

NEVER = 0.1 / LEAK
"""Targets that take more steps than this on average count as out of reach."""

BETTER = 1e-12
"""How much better another action must be, relative to the value, for a policy to change."""

ROUNDS = 1_000
"""The most improvements of a policy; a handful is usual, and one per node where the first policy is hopeless."""


class Routes(NamedTuple):
    """What it takes to get to the targets from every node.

    `steps` is the least expected number of steps: 0 at a target, infinite where no policy arrives with
    probability one. `policy` is the action to take: the quickest where arriving is certain, else the one with
    the highest chance to ever arrive; -1 at a target and where that chance is zero.
    """

    steps: NDArray[np.float64]
    policy: NDArray[np.int64]


class _Rows(NamedTuple):
    """The pairs that can be used, sorted by node and action, and where each leads."""

    node: NDArray[np.int64]
    action: NDArray[np.int64]
    matrix: sp.csr_array
    """The probability of every node after every pair; rows sum to one."""

    def select(self, keep: NDArray[np.bool_]) -> _Rows:
        return _Rows(self.node[keep], self.action[keep], self.matrix[np.flatnonzero(keep)])


def routes(graph: LatentGraph, targets: Collection[int]) -> Routes:
    """Return the least expected number of steps to any of the targets, and the action to take, for every node.

    Only tried pairs that are not closed are used.

    >>> import numpy as np
    >>> from efex.graph import LatentGraph
    >>> slippery = np.array([[0.5, 0.5, 0], [0, 0, 1], [0, 0, 1]])
    >>> steps, policy = routes(LatentGraph.from_matrices("abc", [np.eye(3), slippery]), {2})
    >>> steps.tolist(), policy.tolist()
    ([3.0, 1.0, 0.0], [1, 1, -1])
    """
    goal = np.zeros(graph.n_nodes, bool)
    goal[_checked(graph, targets)] = True
    rows = _usable_rows(graph, goal)
    certain, inside = _almost_sure(rows, goal)
    steps = np.where(goal, 0.0, np.inf)
    policy = np.full(graph.n_nodes, -1)
    quickest = rows.select(inside)
    if len(quickest.node):
        cost = np.ones(len(quickest.node))
        nodes, values, best = _best_policy(quickest, goal, cost)
        steps[nodes] = values
        policy[nodes] = quickest.action[best]
    chancy = rows.select(~certain[rows.node])
    if len(chancy.node):
        # The less the sum of -P(arriving among the certain nodes), the likelier it is to ever get there.
        gain = -(chancy.matrix @ certain.astype(np.float64))
        nodes, _, best = _best_policy(chancy, certain, gain)
        policy[nodes] = chancy.action[best]
    return Routes(steps, policy)


def _checked(graph: LatentGraph, targets: Collection[int]) -> list[int]:
    nodes = [whole("targets", target, at_least=0) for target in targets]
    if not nodes or max(nodes) >= graph.n_nodes:
        raise InvalidArgumentError(
            f"targets must be one or more of the nodes 0 to {graph.n_nodes - 1}, not {targets!r}"
        )
    return nodes


def _usable_rows(graph: LatentGraph, goal: NDArray[np.bool_]) -> _Rows:
    use = (graph.probability > 0) & ~goal[graph.source]
    if graph.closed is not None:
        use &= ~graph.closed[graph.source, graph.action]
    pair = graph.source[use] * graph.n_actions + graph.action[use]
    pairs, row = np.unique(pair, return_inverse=True)
    probability = graph.probability[use]
    probability = probability / np.bincount(row, probability, len(pairs))[row]
    matrix = sp.csr_array((probability, (row, graph.target[use])), shape=(len(pairs), graph.n_nodes))
    return _Rows(pairs // graph.n_actions, pairs % graph.n_actions, matrix)


def _almost_sure(rows: _Rows, goal: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which nodes can arrive with probability one, and which pairs never leave those nodes.

    The largest set that some policy stays in and from all of which the goal can be reached inside it.
    """
    certain = np.ones(len(goal), bool)
    while True:
        inside = rows.matrix @ (~certain).astype(np.float64) == 0
        reached = np.isfinite(_distances(rows.select(inside), goal))
        if np.array_equal(reached, certain):
            return certain, inside & certain[rows.node]
        certain = reached


def _distances(rows: _Rows, goal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how far the goal is when the outcome of a pair can be waited for: an edge is 1 / probability long."""
    from scipy.sparse.csgraph import dijkstra  # slow to load: not with the package

    n = len(goal)
    edges = sp.coo_array(rows.matrix)
    backwards = edges.col.astype(np.int64) * n + rows.node[edges.row]
    order = np.lexsort((-edges.data, backwards))
    keys, first = np.unique(backwards[order], return_index=True)
    lengths = sp.csr_array((1 / edges.data[order][first], (keys // n, keys % n)), shape=(n, n))
    distances: NDArray[np.float64] = dijkstra(lengths, indices=np.flatnonzero(goal), min_only=True)
    return distances


def _best_policy(
    rows: _Rows, goal: NDArray[np.bool_], cost: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the nodes that can arrive at the goal, the least sum of costs on the way, and the row each takes.

    Policy iteration, from a policy that goes nearer with every step that turns out well. It ends up at the goal,
    or outside all rows, and so does each policy after it.
    """
    distances = _distances(rows, goal)
    rows, cost = rows.select(np.isfinite(distances[rows.node])), cost[np.isfinite(distances[rows.node])]
    nodes, group = np.unique(rows.node, return_inverse=True)
    lengths = 1 / rows.matrix.data + distances[rows.matrix.indices]
    taken = _least(np.minimum.reduceat(lengths, rows.matrix.indptr[:-1]), group)
    values = _evaluate(rows.matrix[taken], nodes, cost[taken], leak=LEAK)
    everywhere = np.zeros(len(goal))
    for _ in range(ROUNDS):
        everywhere[nodes] = values
        ahead = cost + rows.matrix @ everywhere
        best = _least(ahead, group)
        better = ahead[best] < values - _rounding(values)
        if not better.any():
            break
        taken = np.where(better, best, taken)
        before, values = values, _evaluate(rows.matrix[taken], nodes, cost[taken], leak=LEAK)
        if not np.any(values < before - _rounding(before)):
            break
    try:
        exact = _evaluate(rows.matrix[taken], nodes, cost[taken], leak=0.0)
    except RuntimeError:  # singular to working precision, so the leak is what keeps the values finite
        exact = values
    exact = np.where(np.isfinite(exact), exact, values)
    return nodes, np.where(values <= NEVER, exact, np.inf), taken


def _rounding(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much two values may differ and be the same: the longer the way, the more digits a solve loses."""
    size = np.abs(values)
    return BETTER * np.maximum(1, size) + np.finfo(np.float64).eps * size**2


def _least(scores: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first row with the least score of every group; groups are sorted."""
    order = np.lexsort((scores, group))
    _, first = np.unique(group[order], return_index=True)
    return order[first]


def _evaluate(
    matrix: sp.csr_array, nodes: NDArray[np.int64], cost: NDArray[np.float64], *, leak: float
) -> NDArray[np.float64]:
    """Return the sum of costs to the goal when every node takes its row: v = c + P v, with v = 0 elsewhere."""
    from scipy.sparse.linalg import splu  # slow to load: not with the package

    edges = sp.coo_array(matrix)
    away = edges.col != nodes[edges.row]
    source, target, probability = edges.row[away], edges.col[away], edges.data[away]
    # The probability to leave is summed, since 1 minus that of staying loses all its digits near zero.
    leave = np.bincount(source, probability, len(nodes)) + leak
    onward = sp.csr_array(sp.coo_array((probability, (source, target)), shape=edges.shape))[:, nodes]
    values: NDArray[np.float64] = splu(sp.csc_array(sp.diags_array(leave) - onward)).solve(cost)
    return values
