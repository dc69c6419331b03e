"""The marks a picture of a graph is made of: a line per joined pair of nodes or an arrow, a disc, a text, a legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from efex.graph.latent import LatentGraph
from efex.symbols import Symbol, symbol_text

Points = NDArray[np.float64]

INK = "#3c4653"
FAINTEST = 0.05
"""Edges less probable than this are not drawn."""

ARROWED = 0.2
"""One-way edges from this probability on carry an arrow."""

HEAD = 5.5
"""Arrowheads are at most so many typographic points long."""

NAMES, LINE = 7.0, 1.2
"""The font size of the names on arrows, and how far apart their lines are, in font sizes."""

LEGEND_ROW = 0.22
"""The height of a row of the legend in inches."""

LEGEND_LETTERS = 32
"""Names longer than this are cut short in the legend."""


class Links(NamedTuple):
    """The pairs of nodes that edges join, each once; a one-way pair leads from source to target."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    probability: NDArray[np.float64]
    one_way: NDArray[np.bool_]


class Arrow(NamedTuple):
    """What edges between two nodes look like that name their actions: a curve and a text around a middle."""

    probability: float
    text: str
    path: Points
    middle: Points


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


def draw_links(axes: Axes, joined: Links, points: Points, *, radius: Points, spacing: float, unit: float) -> None:
    """Draw a line per pair, fainter the less probable, and an arrow where it is one-way; `unit` is in points."""
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
    size = min(0.28 * spacing, HEAD / unit)
    back, aside = tip - along * size, across * size * 0.36
    heads = np.stack([tip, back + aside, back - aside], axis=1)
    # Mixed with paper instead of translucent: the line under a head must not show.
    strength = np.maximum(ink[arrow, 3:], 0.6)
    opaque = 1 - strength * (1 - ink[arrow, :3])
    axes.add_collection(PolyCollection(list(heads), facecolors=opaque, linewidths=0, zorder=2), autolim=False)


def draw_arrows(axes: Axes, arrows: Sequence[Arrow]) -> None:
    """Draw curves, darker the more probable, with heads and texts; the picture is in typographic points."""
    ink = np.tile(to_rgba(INK), (len(arrows), 1))
    ink[:, 3] = [0.2 + 0.5 * arrow.probability for arrow in arrows]
    curves = LineCollection([arrow.path for arrow in arrows], colors=ink.copy(), linewidths=0.9, zorder=1)
    axes.add_collection(curves, autolim=False)
    opaque = 1 - ink[:, 3:] * (1 - ink[:, :3])
    heads = [_head(arrow.path) for arrow in arrows]
    axes.add_collection(PolyCollection(heads, facecolors=opaque, linewidths=0, zorder=2), autolim=False)
    for arrow in arrows:
        x, y = arrow.middle
        axes.text(
            x,
            y,
            arrow.text,
            ha="center",
            va="center",
            fontsize=NAMES,
            linespacing=LINE,
            color=INK,
            zorder=4,
            parse_math=False,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        )


def _head(path: Points) -> Points:
    """Return the triangle at the end of a curve."""
    tip = path[-1]
    away = np.linalg.norm(path - tip, axis=1)
    behind = int(np.flatnonzero(away >= min(HEAD, away.max()))[-1])
    along = (tip - path[behind]) / away[behind]
    back, aside = tip - along * HEAD, along[::-1] * [-0.36 * HEAD, 0.36 * HEAD]
    return np.stack([tip, back + aside, back - aside])


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


def draw_texts(axes: Axes, texts: Sequence[str], points: Points, *, fontsize: float, colours: Points) -> None:
    """Write a text into the disc of every node."""
    bright = colours @ [0.299, 0.587, 0.114] > 0.6
    for text, (x, y), dark in zip(texts, points, bright, strict=True):
        colour = INK if dark else "white"
        axes.text(
            x,
            y,
            text,
            ha="center",
            va="center_baseline",
            fontsize=fontsize,
            color=colour,
            zorder=4,
            parse_math=False,
        )


def draw_legend(figure: Figure, symbols: Sequence[Symbol], *, colours: Points) -> Legend:
    """Write which colour is which observation to the right of the figure, which grows by as much."""
    width, height = figure.get_size_inches()
    columns = math.ceil(len(symbols) / max(int(height / LEGEND_ROW), 1))
    order = _reading_order(symbols)
    discs = [Line2D([], [], linestyle="", marker="o", markersize=8, color=tuple(colours[code])) for code in order]
    names = [_legend_name(symbols[code]) for code in order]
    # Names are set afterwards, because a legend leaves out labels that begin with an underscore.
    legend = figure.legend(
        discs,
        ["-"] * len(discs),
        loc="outside right center",
        ncols=columns,
        fontsize=9,
        labelcolor=INK,
        frameon=False,
        handletextpad=0.3,
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
    figure.set_size_inches(width + legend.get_window_extent().width / figure.get_dpi(), height)
    return legend


def _reading_order(symbols: Sequence[Symbol]) -> list[int]:
    """Return the codes of the symbols sorted by symbol, or as they come where they cannot be compared."""
    try:
        return sorted(range(len(symbols)), key=lambda code: symbols[code])
    except TypeError:
        return list(range(len(symbols)))


def _legend_name(symbol: Symbol) -> str:
    text = symbol_text(symbol)
    return shortened(text if text.strip() else repr(symbol), LEGEND_LETTERS)


def shortened(name: str, letters: int) -> str:
    """Return the name on one line, cut where it has more than so many letters."""
    line = " ".join(name.split())
    return line if len(line) <= letters else line[: letters - 1] + "…"
