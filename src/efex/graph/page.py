"""Pages: small maps set out on paper, nodes far enough apart for arrows that name their actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from efex.graph.arrow_choice import choose_ways
from efex.graph.arrow_labels import Label, labels_of
from efex.graph.arrow_ways import direction, ways_of
from efex.graph.latent import LatentGraph
from efex.graph.marks import Arrow, Points, disc_radius

FEW_NODES = 12
"""Graphs of at most so many nodes name the actions of their edges."""

FEW_ARROWS = 48
"""And only those of at most so many arrows, loops included."""


class Page(NamedTuple):
    """A small map on paper: places and radii in typographic points, and the corners of what is drawn."""

    points: Points
    radius: Points
    arrows: list[Arrow]
    low: Points
    high: Points


def set_out(graph: LatentGraph, points: Points, *, spacing: float, radius: float) -> Page | None:
    """Return a small graph set out on paper with discs of about that `radius`, or None if it is too large.

    Nodes are at `points`, most of them at least `spacing` from one another, which becomes room for a label.
    """
    labels = labels_of(graph) if 0 < graph.n_nodes <= FEW_NODES else []
    if not 0 < len(labels) <= FEW_ARROWS:
        return None
    relative = disc_radius(graph, spacing=1.0)
    discs = relative * radius / float(np.median(relative))
    widest, room = 2 * float(discs.max()), _room(labels, graph.n_nodes)
    # However close some nodes are, the page does not grow beyond that of a line of nodes.
    step = (widest + room) / max(spacing, float(np.ptp(points, axis=0).max()) / FEW_NODES)
    placed = _apart(points * step, widest + 0.4 * room)
    ways = [ways_of(label, placed, discs, labels) for label in labels]
    arrows = [
        Arrow(label.probability, label.text, way.paths[route], way.middles[route, spot])
        for label, way, (route, spot) in zip(labels, ways, choose_ways(ways, labels), strict=True)
    ]
    boxes = [arrow.middle + sign * label.half for arrow, label in zip(arrows, labels, strict=True) for sign in (-1, 1)]
    marks = np.concatenate([placed - discs[:, None], placed + discs[:, None], boxes, *(arrow.path for arrow in arrows)])
    return Page(placed, discs, arrows, marks.min(axis=0), marks.max(axis=0))


def _room(labels: Sequence[Label], n_nodes: int) -> float:
    """Return how far apart discs should be: enough for the widest label, and more where many arrows meet."""
    between = [2 * float(label.half[0]) for label in labels if label.source != label.target]
    widest, meeting = max(between, default=0.0), len(between) / n_nodes
    return float(np.clip(max(widest + 16.0, 0.6 * widest + 20.0 * meeting + 12.0), 48.0, 120.0))


def _apart(points: Points, least: float) -> Points:
    """Return the positions with nodes that lie almost on one another pushed apart."""
    if len(points) == 1 or pdist(points).min() >= least:
        return points
    # Nodes in one place have no direction to go apart in; each gets its own.
    placed = points + 0.01 * least * direction(np.arange(len(points), dtype=np.float64))
    for _ in range(200):
        offset = placed[:, None] - placed[None]
        distance = np.linalg.norm(offset, axis=2) + np.diag(np.full(len(points), np.inf))
        push = np.maximum(1.01 * least - distance, 0.0) / (2 * distance)
        placed = placed + (push[:, :, None] * offset).sum(axis=1)
    return placed
