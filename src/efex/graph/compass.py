"""A compass: by how much every kind of step moves, if it moves alike wherever it is taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.sparse.linalg import splu

from efex.graph.steps import Ids, Steps, components, neighbours

Points = NDArray[np.float64]

DIMENSIONS = 3
"""What can be drawn."""

UNLIKE = 0.1
"""The share of its moves along an axis that steps may contradict, while those that lead astray are among them."""

NEAR, AGREED = 0.5, 0.9
"""How far off a step may lead, in steps, and the share of all steps that must not lead farther off."""

FEW = 0.5
"""The share of a kind's steps that are undone, below which none of them is thought to lead astray for that."""

ROUNDS, ASTRAY = 5, 1e-6
"""How often it is looked again without the steps that lead astray, and what they still weigh to hold nodes together."""

BESIDE = 0.5
"""How far beside the axes there are a kind must lead to be the next one, compared with the one that does most.

Of those the shortest is taken: where one may go diagonally, too, that is along a side."""

LARGE = 2_000
"""Where there are more nodes, so many are looked at first: where nothing is a plan, all would take too long."""

LENGTHS = 0.5, 1.5
"""How long steps may be, nine of ten at least, where they are one on average."""

COMMON = 0.1
"""How many steps of a kind there are, at least, compared with the most frequent one, that says how long steps are."""

FLAT = 0.1
"""What is less than this, of one, says nothing: of how long steps are, or of the angle between axes."""


class Fit(NamedTuple):
    """Where nodes lie, and how much every kind of step moves: as many numbers each as there are dimensions."""

    points: Points
    moves: Points


def fitted(steps: Steps, kind: Ids, n_kinds: int) -> Fit | None:
    """Return where steps of every kind lead, -1 nowhere else; None if most do not agree, or in no space to be drawn.

    All kinds are as long as one another, as far as that can be.
    """
    if kind.max(initial=-1) < 0 or (steps.n > LARGE and fitted(*_near(steps, kind), n_kinds) is None):
        return None
    right = _returns(steps, kind, n_kinds)
    for _ in range(ROUNDS):
        places, contradicted, weights = _solved(steps, kind, n_kinds, right)
        moves = _moves(contradicted, weights)
        if moves.shape[1] == 0:
            return None
        points, still = places @ moves, np.zeros((1, moves.shape[1]))
        off = points[steps.target] - points[steps.source] - np.concatenate([moves, still])[kind]
        before, right = right, np.linalg.norm(off, axis=1) < NEAR
        if (before == right).all():
            break
    lengths = np.linalg.norm(moves, axis=1)
    even = weights[(lengths >= LENGTHS[0]) & (lengths <= LENGTHS[1])].sum()
    return Fit(points, moves) if even >= AGREED * weights.sum() and right.mean() >= AGREED else None


def _near(steps: Steps, kind: Ids) -> tuple[Steps, Ids]:
    """Return the steps among the nodes nearest to one of the largest part of the graph, and their kinds."""
    part = components(steps)[1]
    middle = int(np.argmax(part == np.argmax(np.bincount(part))))
    nodes = breadth_first_order(neighbours(steps), middle, return_predecessors=False)[:LARGE]
    new = np.full(steps.n, -1)
    new[nodes] = np.arange(len(nodes))
    inside = (new[steps.source] >= 0) & (new[steps.target] >= 0)
    source, target = new[steps.source[inside]], new[steps.target[inside]]
    return steps._replace(source=source, action=steps.action[inside], target=target, n=len(nodes)), kind[inside]


def _returns(steps: Steps, kind: Ids, n_kinds: int) -> NDArray[np.bool_]:
    """Return which steps some step undoes, or that are of a kind of which that is true of few.

    None undoes those by which one falls or is thrown.
    """
    there, back = steps.source * steps.n + steps.target, steps.target * steps.n + steps.source
    undone = np.isin(there, back)
    of_kind = np.bincount(kind + 1, undone, n_kinds + 1) / np.maximum(np.bincount(kind + 1, minlength=n_kinds + 1), 1)
    return undone | (of_kind[kind + 1] < FEW)


def _solved(steps: Steps, kind: Ids, n_kinds: int, right: NDArray[np.bool_]) -> tuple[Points, Points, Points]:
    """Return where nodes lie by what every kind moves, how much of that the steps contradict, and the kinds' weights.

    The places x that agree best with moves v, in the sum of squares weight (x[target] - x[source] - v[kind])^2, are the
    first matrix times v, and what is left of that sum is v times the second matrix times v.
    """
    weight = np.where(right, 1.0, ASTRAY)
    held = np.flatnonzero(right | _holding(steps, weight))
    n, source, target, kind, weight = steps.n, steps.source[held], steps.target[held], kind[held], weight[held]
    ends = np.concatenate([source, target, source, target]), np.concatenate([source, target, target, source])
    laplacian = sp.csc_array((np.concatenate([weight, weight, -weight, -weight]), ends), shape=(n, n))
    first = np.unique(components(steps)[1], return_index=True)[1]
    tied = sp.csc_array((np.ones(len(first)), (first, first)), shape=(n, n))
    moving = np.flatnonzero(kind >= 0)
    pulls = np.zeros((n, n_kinds))
    np.add.at(pulls, (target[moving], kind[moving]), weight[moving])
    np.add.at(pulls, (source[moving], kind[moving]), -weight[moving])
    places = splu(sp.csc_array(laplacian + tied)).solve(pulls)
    weights = np.bincount(kind[moving], weight[moving], minlength=n_kinds).astype(np.float64)
    return places, np.diag(weights) - pulls.T @ places, weights


def _holding(steps: Steps, weight: Points) -> NDArray[np.bool_]:
    """Return which steps hold the nodes together, as few that lead astray among them as can be.

    All of those would fill the factors of large graphs.
    """
    cost = sp.csr_array((1 / weight, (steps.source, steps.target)), shape=(steps.n, steps.n))
    tree = minimum_spanning_tree(cost).tocoo()
    return np.isin(steps.source * steps.n + steps.target, tree.row.astype(np.int64) * steps.n + tree.col)


def _moves(contradicted: Points, weights: Points) -> Points:
    """Return how kinds move along the axes that steps contradict least, along none where there are too many."""
    used = np.flatnonzero(weights)
    scale = 1 / np.sqrt(weights[used])
    share, vectors = np.linalg.eigh(contradicted[np.ix_(used, used)] * np.outer(scale, scale))
    n_axes = int((share < UNLIKE).sum())
    moves = np.zeros((len(weights), n_axes if n_axes <= DIMENSIONS else 0))
    if moves.size:
        moves[used] = _evenly_long(vectors[:, :n_axes] * scale[:, None], weights[used])
    return moves


def _evenly_long(moves: Points, weights: Points) -> Points:
    """Return the moves on axes stretched and turned until those of common kinds are as close to length one as can be.

    Where rare kinds alone lead along an axis, the first of them is one.
    """
    common, along, beside = weights >= COMMON * weights.max(), [], moves
    for _ in range(moves.shape[1]):
        length = np.linalg.norm(beside, axis=1)
        pool = np.where(common, length, 0.0) if length[common].max() > FLAT**2 * length.max() else length
        long_enough = np.flatnonzero(pool >= BESIDE * pool.max())
        # Rounded, so that the first of equals is taken.
        along.append(int(long_enough[np.argmin(np.round(pool[long_enough] / pool.max(), 6))]))
        axis = beside[along[-1]] / length[along[-1]]
        beside = beside - np.outer(beside @ axis, axis)
    moves = moves @ np.linalg.inv(moves[along])
    i, j = np.triu_indices(moves.shape[1])
    squares = (moves[:, i] * moves[:, j] * np.where(i == j, 1, 2))[common]
    found = np.linalg.lstsq(squares, np.ones(len(squares)), rcond=FLAT)[0]
    metric = np.zeros((moves.shape[1],) * 2)
    metric[i, j] = metric[j, i] = np.where((i == j) & (np.abs(squares).max(axis=0) < FLAT), 1.0, found)
    return moves @ np.linalg.cholesky(metric) if np.linalg.eigvalsh(metric)[0] > FLAT else moves
