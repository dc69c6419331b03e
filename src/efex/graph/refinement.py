"""Partition refinement: which nodes of a graph no experiment tells apart (probabilistic bisimulation).

Nodes start in one block per observation. A round splits every block by the probability mass that each action
sends into each block, until nothing splits. An untried pair sends no mass, so it differs from a tried one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from efex.graph.latent import LatentGraph

Blocks = NDArray[np.int64]
"""The block of every node, numbered from 0 by first member."""

ROUNDING = 1e-9
"""Masses this close are one number that was rounded in two ways."""


class _Masses(NamedTuple):
    """The mass that each node sends, by action, into each block: parallel arrays sorted by node."""

    node: NDArray[np.int64]
    column: NDArray[np.int64]
    mass: NDArray[np.float64]


def partition(graph: LatentGraph, *, tolerance: float = 0.0) -> Blocks:
    """Return the block of every node once no round splits any: nodes of one block are equivalent."""
    blocks = np.zeros(graph.n_nodes, np.int64)
    for refined in rounds(graph, tolerance=tolerance):
        blocks = refined
    return blocks


def rounds(graph: LatentGraph, *, tolerance: float = 0.0) -> Iterator[Blocks]:
    """Iterate over the partitions from observations to equivalence, each finer than the one before.

    With a tolerance above zero, masses are equal when they differ by at most that much from those of a
    block's first node. That relation is not transitive, so the result then depends on the order of the nodes.
    """
    yield graph.codes
    # The tolerance may exceed every single mass of a row, so tried and untried pairs are told apart up front.
    refined = _number_by_first(np.column_stack([graph.codes, graph.tried]))
    n_blocks = 0
    while refined.max(initial=-1) >= n_blocks:
        yield refined
        n_blocks = int(refined.max()) + 1
        masses = _masses(graph, refined)
        refined = _split_near(refined, masses, tolerance) if tolerance > 0 else _split(refined, masses)


def _number_by_first(rows: NDArray[np.generic]) -> Blocks:
    """Return a number per row, equal for equal rows, in order of first appearance."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbers: Blocks = rank[inverse.ravel()]
    return numbers


def _masses(graph: LatentGraph, blocks: Blocks) -> _Masses:
    width = graph.n_actions * (int(blocks.max(initial=0)) + 1)
    key = graph.source * width + blocks[graph.target] * graph.n_actions + graph.action
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    mass = np.add.reduceat(graph.probability[order], first) if len(first) else np.zeros(0)
    first, mass = first[mass > ROUNDING], mass[mass > ROUNDING]
    return _Masses(key[first] // width, key[first] % width, mass)


def _split(blocks: Blocks, masses: _Masses) -> Blocks:
    """Return the blocks split where the masses differ by more than rounding.

    A node's set of (column, mass) entries is compared by the sum of 64-bit hashes: two of 10,000 nodes
    collide with a probability around 1e-12, and the comparison stays one sort whatever the number of edges.
    """
    entry = _mix(_mix(masses.column.astype(np.uint64)) + _levels(masses.mass).astype(np.uint64))
    signature = np.zeros(len(blocks), np.uint64)
    np.add.at(signature, masses.node, entry)
    return _number_by_first(np.column_stack([blocks.astype(np.uint64), signature]))


def _levels(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a number per value, equal for values that no gap wider than rounding separates.

    Rounding the values to a grid would part equal numbers that lie on either side of a grid line.
    """
    order = np.argsort(values)
    levels = np.empty(len(values), np.int64)
    levels[order] = np.cumsum(np.diff(values[order], prepend=values[order][:1]) > ROUNDING)
    return levels


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return hashes of 64-bit numbers (the finaliser of SplitMix64)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _split_near(blocks: Blocks, masses: _Masses, tolerance: float) -> Blocks:
    """Return the blocks split where the masses differ by more than `tolerance` from those of a first node."""
    group = np.zeros(len(blocks), np.int64)
    bounds = np.searchsorted(masses.node, np.arange(len(blocks) + 1))
    members = np.split(np.argsort(blocks, kind="stable"), np.cumsum(np.bincount(blocks))[:-1])
    for block in members:
        if len(block) > 1:
            group[block] = _group_near(_dense_rows(block, masses, bounds), tolerance)
    return _number_by_first(np.column_stack([blocks, group]))


def _dense_rows(nodes: Blocks, masses: _Masses, bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a row per node with its masses, over the columns that any of the nodes uses."""
    lengths = bounds[nodes + 1] - bounds[nodes]
    entries = np.concatenate([np.arange(bounds[node], bounds[node + 1]) for node in nodes])
    columns, position = np.unique(masses.column[entries], return_inverse=True)
    rows = np.zeros((len(nodes), len(columns)))
    rows[np.repeat(np.arange(len(nodes)), lengths), position] = masses.mass[entries]
    return rows


def _group_near(rows: NDArray[np.float64], tolerance: float) -> NDArray[np.int64]:
    group = np.full(len(rows), -1)
    while (left := np.flatnonzero(group < 0)).size:
        distance = np.abs(rows[left] - rows[left[0]]).max(axis=1, initial=0.0)
        group[left[distance <= tolerance + ROUNDING]] = left[0]
    return group
