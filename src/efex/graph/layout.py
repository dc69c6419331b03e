"""Where to draw the nodes of a graph: distances on paper like distances in steps."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist

from efex.graph.floor_plan import floor_plan
from efex.graph.latent import LatentGraph
from efex.graph.steps import components, likely_steps, neighbours

Points = NDArray[np.float64]

OBLIQUE = np.array([0.38, 0.30])
"""How far one step of depth moves a node right and up, in steps."""

GRID_LIKE = 0.5
"""From this agreement of the edges' directions on, from 0 to 1, they decide what is upright."""

ALL_PAIRS = 1500
"""Up to this many nodes every pair counts; beyond, only pairs with one of the landmarks."""

LANDMARKS = 200
ITERATIONS = 100
GAP = 2.0
"""Room between components, in steps."""


def layout(graph: LatentGraph) -> Points:
    """Return a position per node, shape (n, 2): a floor plan, or distances that resemble the numbers of steps between.

    Where there is no floor plan, classical scaling gives the first positions, majorisation of the stress
    sum (distance - steps)^2 / steps^2 improves them. Nothing is drawn at random. Components lie side by side.
    """
    n_components, component = components(likely_steps(graph))
    members = np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component))[:-1])
    plan = floor_plan(graph)
    points = _scaled(graph, members) if plan is None else flat(plan)
    return _side_by_side(points, members) if n_components > 1 else points


def laid_out_like(graph: LatentGraph, coordinates: Points) -> Points:
    """Return the layout, turned and mirrored so that nodes lie where their coordinates have them, as far as that goes.

    Which way is up, and whether left is left, no graph can tell.
    """
    if graph.n_nodes == 0:
        return layout(graph)
    points, theirs = (each - each.mean(axis=0) for each in (layout(graph), flat(coordinates)))
    left, _, right = np.linalg.svd(points.T @ theirs)
    return np.asarray(points @ left @ right)


def flat(coordinates: Points) -> Points:
    """Return coordinates of one to three dimensions in two: depth is drawn obliquely."""
    across_and_up = np.pad(coordinates[:, :2], ((0, 0), (0, max(2 - coordinates.shape[1], 0))))
    return np.asarray(across_and_up + coordinates[:, 2:].sum(axis=1, keepdims=True) * OBLIQUE)


def _scaled(graph: LatentGraph, members: list[NDArray[np.int64]]) -> Points:
    steps, points = neighbours(likely_steps(graph)), np.zeros((graph.n_nodes, 2))
    for nodes in members:
        if len(nodes) > 1:
            points[nodes] = _embed(steps[nodes][:, nodes])
    return points


def _embed(steps: sp.csr_array) -> Points:
    """Return positions for one component of at least two nodes."""
    if steps.shape[0] <= ALL_PAIRS:
        landmarks = np.arange(steps.shape[0])
        distances = dijkstra(steps, unweighted=True)
    else:
        landmarks, distances = _spread(steps)
    points = _classical(distances, landmarks)
    return _upright(_majorise(points, distances, landmarks), steps)


def _spread(steps: sp.csr_array) -> tuple[NDArray[np.int64], Points]:
    """Return landmarks, each the farthest from those before it, and their distances to all nodes."""
    landmarks = np.zeros(LANDMARKS, np.int64)
    distances = np.zeros((LANDMARKS, steps.shape[0]))
    for index in range(LANDMARKS):
        if index:
            landmarks[index] = np.argmax(distances[:index].min(axis=0))
        distances[index] = dijkstra(steps, unweighted=True, indices=landmarks[index : index + 1])
    return landmarks, distances


def _classical(distances: Points, landmarks: NDArray[np.int64]) -> Points:
    """Return the positions of landmark scaling (de Silva, Tenenbaum): with all nodes, classical scaling."""
    squared = distances**2
    among = squared[:, landmarks]
    mean = among.mean(axis=1)
    centred = -0.5 * (among - mean[:, None] - mean[None, :] + mean.mean())
    values, vectors = _leading(centred)
    # A chain has one axis only; the next is rounding, which must not be scaled up.
    axes = np.where(values > 1e-9 * values[-1], vectors / np.sqrt(np.maximum(values, 1e-300)), 0.0)
    points = np.zeros((distances.shape[1], 2))
    points[:, : len(values)] = -0.5 * (squared - mean[:, None]).T @ axes[:, ::-1]
    return points


def _leading(matrix: Points) -> tuple[NDArray[np.float64], Points]:
    """Return the two largest eigenvalues, rising, and their vectors."""
    if len(matrix) < 10:
        values, vectors = np.linalg.eigh(matrix)
        return values[-2:], vectors[:, -2:]
    begin = np.random.default_rng(0).normal(size=len(matrix))  # fixed, so that the picture is
    values, vectors = eigsh(matrix, k=2, which="LA", v0=begin)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _majorise(points: Points, distances: Points, landmarks: NDArray[np.int64]) -> Points:
    """Return the positions after rounds in which every landmark votes where every node should lie."""
    with np.errstate(divide="ignore"):
        weights = np.where(distances > 0, distances**-2.0, 0.0)
    total = weights.sum(axis=0)
    for _ in range(ITERATIONS):
        anchors = points[landmarks]
        push = weights * distances / np.maximum(cdist(anchors, points), 1e-9)
        votes = (weights - push).T @ anchors + push.sum(axis=0)[:, None] * points
        points = votes / total[:, None]
    return points


def _upright(points: Points, steps: sp.csr_array) -> Points:
    """Return the positions centred and turned: a grid's edges run across and up, the longest extent across."""
    source, target = steps.nonzero()
    place = (points - points.mean(axis=0)) @ [1.0, 1.0j]
    # A quarter turn leaves the fourth power as it is, so that both directions of a grid agree on its angle.
    along = (place[target] - place[source]) ** 4
    grid_like = abs(along.sum()) >= GRID_LIKE * np.abs(along).sum()
    angle = np.angle(along.sum()) / 4 if grid_like else np.angle((place**2).sum()) / 2
    turned = place * np.exp(-1j * angle)
    if np.ptp(turned.imag) > np.ptp(turned.real) + 1e-6:
        turned = turned * 1j
    return np.column_stack([turned.real, turned.imag])


def _side_by_side(points: Points, members: list[NDArray[np.int64]]) -> Points:
    """Return the positions with the components, large to small, on shelves about as wide as they are high."""
    sizes = [np.ptp(points[nodes], axis=0) + GAP for nodes in members]
    width = max(math.sqrt(1.5 * sum(math.prod(size) for size in sizes)), max(size[0] for size in sizes))
    placed = np.zeros_like(points)
    x = y = height = 0.0
    for index in sorted(range(len(members)), key=lambda i: (-len(members[i]), members[i][0])):
        nodes, size = members[index], sizes[index]
        if x + size[0] > width + 1e-9:
            x, y, height = 0.0, y - height, 0.0
        lowest, highest = points[nodes].min(axis=0), points[nodes].max(axis=0)
        placed[nodes] = points[nodes] - [lowest[0], highest[1]] + [x, y]
        x, height = x + size[0], max(height, size[1])
    return placed
