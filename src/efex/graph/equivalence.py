"""Whether two graphs do the same, and an experiment that tells them apart where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from efex import checks
from efex.errors import InvalidArgumentError
from efex.graph.latent import LatentGraph
from efex.graph.reduction import merge_equivalent, prune, quotient, subgraph
from efex.graph.refinement import partition, rounds
from efex.graph.witness import Witness, distinguish, walk_probability

__all__ = ["Witness", "difference", "merge_equivalent", "prune"]


def difference(
    graph: LatentGraph, other: LatentGraph, *, tolerance: float = 0.0, start: tuple[int, int] | None = None
) -> Witness | None:
    """Return None when the graphs are equivalent as far as their starts reach, else what tells them apart.

    The starts are `start`, a node of each graph, or each graph's own `starts`, or all nodes where it has
    none. From one start each, the graphs are equivalent when the two starts are. From several, when every
    node that one graph reaches has an equivalent that the other reaches; the witness then begins at a node
    that has none, and at the node of the other graph that resembles it longest.

    Equivalence is probabilistic bisimulation, which is finer than equal probabilities of all experiments:
    where only the hidden moment of a random choice differs, the witness carries two equal probabilities.
    """
    found = _distinct(graph, other, tolerance, start)
    return None if found is None else _witness(*found, tolerance=tolerance)


def equivalent(
    graph: LatentGraph, other: LatentGraph, *, tolerance: float = 0.0, start: tuple[int, int] | None = None
) -> bool:
    """Return whether `difference` would be None, without looking for an experiment that shows it."""
    return _distinct(graph, other, tolerance, start) is None


def _distinct(
    graph: LatentGraph, other: LatentGraph, tolerance: float, start: tuple[int, int] | None
) -> tuple[LatentGraph, int | None, int | None] | None:
    """Return the two graphs as one and a node of each that have no equivalent, or None where there are none."""
    checks.tolerance("tolerance", tolerance)
    if not isinstance(other, LatentGraph):
        raise InvalidArgumentError(f"other must be a LatentGraph, not {type(other).__name__}{_meant(other)}")
    if graph.n_actions != other.n_actions:
        raise InvalidArgumentError(
            f"graphs must have equally many actions to be compared, not {graph.n_actions} and {other.n_actions}"
        )
    left, right = _reached(graph, start, 0), _reached(other, start, 1)
    both = _union(left, right)
    mine, theirs = np.arange(left.n_nodes), np.arange(left.n_nodes, both.n_nodes)
    if len(left.starts) == len(right.starts) == 1:
        mine, theirs = mine[list(left.starts)], theirs[list(right.starts)]
    before = np.arange(both.n_nodes)  # nodes that show different symbols do not resemble each other at all
    for blocks in rounds(both, tolerance=tolerance):
        pair = _unmatched(mine, theirs, blocks, before)
        if pair is not None:
            return both, *pair
        before = blocks
    return None


def _meant(other: Any) -> str:
    """Return which graph of a run or a world is meant where it was given itself."""
    for holder, name in ((other, "graph"), (getattr(other, "unwrapped", other), "truth")):
        if isinstance(getattr(holder, name, None), LatentGraph):
            return f"; give its .{name}" if holder is other else f"; give its .unwrapped.{name}"
    return "; run.graph and world.truth are graphs"


def _reached(graph: LatentGraph, start: tuple[int, int] | None, side: int) -> LatentGraph:
    """Return the part of the graph that its starts reach, which are never empty unless the graph is."""
    from scipy.sparse.csgraph import breadth_first_order  # slow to load: not with the package

    starts: Sequence[int] = graph.starts or range(graph.n_nodes)
    if start is not None:
        starts = (start[side],)
        if not 0 <= start[side] < graph.n_nodes:
            raise InvalidArgumentError(f"start[{side}] must be a node 0 to {graph.n_nodes - 1}, not {start[side]!r}")
    # One more node that leads to every start makes this a single search.
    source = np.concatenate([graph.source, np.full(len(starts), graph.n_nodes)])
    target = np.concatenate([graph.target, np.asarray(starts, np.int64)])
    shape = (graph.n_nodes + 1, graph.n_nodes + 1)
    edges = sp.csr_array((np.ones(len(source)), (source, target)), shape=shape)
    found = breadth_first_order(edges, graph.n_nodes, return_predecessors=False)
    return subgraph(replace(graph, starts=tuple(starts)), np.sort(found[1:]).astype(np.int64))


def _union(left: LatentGraph, right: LatentGraph) -> LatentGraph:
    """Return the two graphs as one, the nodes of the right one after those of the left."""
    return LatentGraph(
        observations=left.observations + right.observations,
        n_actions=left.n_actions,
        source=np.concatenate([left.source, right.source + left.n_nodes]),
        action=np.concatenate([left.action, right.action]),
        target=np.concatenate([left.target, right.target + left.n_nodes]),
        probability=np.concatenate([left.probability, right.probability]),
        count=np.concatenate([left.count, right.count]),
    )


def _unmatched(
    mine: NDArray[np.int64], theirs: NDArray[np.int64], blocks: NDArray[np.int64], before: NDArray[np.int64]
) -> tuple[int | None, int | None] | None:
    """Return a node of one side whose block the other side lacks, with the other's node nearest to it.

    Where no node shows the same, None takes its place; None alone comes back when every node has a match.
    """
    for here, there in ((mine, theirs), (theirs, mine)):
        alone = here[~np.isin(blocks[here], blocks[there])]
        if alone.size:
            near = there[before[there] == before[alone[0]]]
            pair = int(alone[0]), int(near[0]) if near.size else None
            return pair if here is mine else pair[::-1]
    return None


def _witness(graph: LatentGraph, left: int | None, right: int | None, *, tolerance: float) -> Witness:
    if left is None or right is None:
        shown = next(graph.observations[node] for node in (left, right) if node is not None)
        return Witness((), (shown,), (float(left is not None), float(left is None)))
    blocks = partition(graph)
    merged = quotient(graph, blocks)
    actions, observations = distinguish(merged, int(blocks[left]), int(blocks[right]), tolerance=tolerance)
    first, second = (
        walk_probability(graph, node, actions=actions, observations=observations) for node in (left, right)
    )
    return Witness(actions, observations, (first, second))
