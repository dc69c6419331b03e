"""The marks a picture of a graph is made of: a line per joined pair of nodes, a disc and a label per node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from numpy.typing import NDArray

from efex.graph.latent import LatentGraph

Points = NDArray[np.float64]

INK = "#3c4653"
FAINTEST = 0.05
"""Edges less probable than this are not drawn."""

ARROWED = 0.2
"""One-way edges from this probability on carry an arrow."""

LABELLED = 100
"""Graphs of at most so many nodes carry their observations as text, where it fits into the discs."""


class Links(NamedTuple):
    """The pairs of nodes that edges join, each once; a one-way pair leads from source to target."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    probability: NDArray[np.float64]
    one_way: NDArray[np.bool_]


def links(graph: LatentGraph) -> Links:
    """Return every joined pair once, with the largest probability of its edges."""
    keep = (graph.source != graph.target) & (graph.probability >= FAINTEST)
    source, target = graph.source[keep], graph.target[keep]
    width = max(graph.n_nodes, 1)
    pairs, index = np.unique(np.minimum(source, target) * width + np.maximum(source, target), return_inverse=True)
    probability, backward = np.zeros(len(pairs)), (source > target).astype(np.int64)
    np.maximum.at(probability, index, graph.probability[keep])
    exists = np.zeros((len(pairs), 2), bool)
    exists[index, backward] = True
    low, high = pairs // width, pairs % width
    forward = exists[:, 0]
    return Links(
        source=np.where(forward, low, high),
        target=np.where(forward, high, low),
        probability=probability,
        one_way=exists[:, 0] != exists[:, 1],
    )


def draw_links(axes: Axes, joined: Links, points: Points, *, radius: Points, spacing: float) -> None:
    """Draw a line per pair, fainter the less probable, and an arrow where it is one-way."""
    begin, end = points[joined.source], points[joined.target]
    length = np.maximum(np.linalg.norm(end - begin, axis=1), 1e-9)
    ink = np.tile(to_rgba(INK), (len(begin), 1))
    # Long lines cross many others: fainter, they leave the short ones readable.
    ink[:, 3] = (0.1 + 0.5 * joined.probability) * np.clip(np.sqrt(2 * spacing / length), 0.3, 1.0)
    lines = LineCollection(list(np.stack([begin, end], axis=1)), colors=ink.copy(), linewidths=0.9, zorder=1)
    axes.add_collection(lines, autolim=False)

    arrow = joined.one_way & (joined.probability >= ARROWED)
    along = ((end - begin) / length[:, None])[arrow]
    across = along[:, ::-1] * [-1.0, 1.0]
    tip = end[arrow] - along * radius[joined.target[arrow], None] * 1.05
    back = tip - along * spacing * 0.28
    heads = np.stack([tip, back + across * spacing * 0.09, back - across * spacing * 0.09], axis=1)
    ink[:, 3] = np.maximum(ink[:, 3], 0.5)
    axes.add_collection(PolyCollection(list(heads), facecolors=ink[arrow], linewidths=0, zorder=2), autolim=False)


def disc_radius(graph: LatentGraph, *, spacing: float) -> Points:
    """Return the radius of every node: by utility in nats where it is known, small where nothing is to learn."""
    if graph.utility is None:
        return np.full(graph.n_nodes, 0.34 * spacing)
    return spacing * (0.2 + 0.34 * graph.utility / (graph.utility + 0.5))


def draw_discs(axes: Axes, points: Points, *, radius: Points, colours: Points) -> None:
    """Draw a disc per node, its size in the units of the picture."""
    discs = EllipseCollection(
        2 * radius,
        2 * radius,
        np.zeros(len(points)),
        units="xy",
        offsets=points,
        offset_transform=axes.transData,
        facecolors=colours,
        edgecolors="white",
        linewidths=0.4,
        zorder=3,
    )
    axes.add_collection(discs, autolim=False)


def draw_labels(axes: Axes, graph: LatentGraph, points: Points, *, size: float, colours: Points) -> None:
    """Write what every node shows into its disc, `size` points wide, unless it does not fit."""
    texts = [str(symbol) for symbol in graph.observations]
    fontsize = min(7.0, size / (0.7 * max((len(text) for text in texts), default=1)))
    if graph.n_nodes > LABELLED or fontsize < 4:
        return
    bright = colours @ [0.299, 0.587, 0.114] > 0.6
    for text, (x, y), dark in zip(texts, points, bright, strict=True):
        colour = INK if dark else "white"
        axes.text(x, y, text, ha="center", va="center_baseline", fontsize=fontsize, color=colour, zorder=4)
