"""Pictures of graphs: nodes in the colours of their observations, where the world or the graph itself puts them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from efex.checks import flag
from efex.counting import counted
from efex.errors import InvalidArgumentError
from efex.experience import Alphabet
from efex.graph.export import replacing
from efex.graph.latent import LatentGraph
from efex.graph.layout import flat, layout
from efex.graph.marks import (
    INK,
    Points,
    disc_radius,
    draw_arrows,
    draw_discs,
    draw_legend,
    draw_links,
    draw_texts,
    links,
)
from efex.graph.page import Page, set_out
from efex.graph.palette import palette
from efex.symbols import symbol_text

DPI = 150

LABELLED = 100
"""Graphs of at most so many nodes carry their observations as text, where it fits into the discs."""

LISTED = 20
"""At most so many observations are listed in a legend; more colours are hard to tell apart."""

SMALLEST, EASY, LARGEST = 4.0, 5.0, 7.0
"""Font sizes: observations are not written smaller than the first, and numbers make room for the second."""

LETTER = 0.7
"""The room that a letter takes up across, in font sizes."""

ROUND = 13.0, 22.0
"""The radius of a disc beside named arrows, in typographic points: at least, and at most for long observations."""

TITLE = 0.45
"""The height of a title in inches."""

BORDER = 0.12
"""The white around named arrows on either side, in inches."""

Text = Literal["observations", "numbers", "nothing"]
Panel = tuple[str, LatentGraph, ArrayLike | None]


def plot(graph: LatentGraph, path: str | Path, *, coordinates: ArrayLike | None = None, numbers: bool = False) -> Path:
    """Draw the graph to `path`: on `coordinates`, or on its own, or laid out by its own distances.

    Nodes carry their observations, or their numbers if `numbers`. A legend lists observations that are not written.
    Small graphs have an arrow for every edge and loop, with the names of its actions and their probabilities.
    """
    shown = ((graph.n_nodes, "node"), (len(graph.symbols), "observation"), (graph.n_edges, "edge"))
    title = ", ".join(counted(*each) for each in shown)
    return plot_comparison(path, [(title, graph, coordinates)], numbered=graph if flag("numbers", numbers) else None)


def plot_comparison(path: str | Path, panels: Sequence[Panel], *, numbered: LatentGraph | None = None) -> Path:
    """Draw panels of (title, graph, coordinates or None) side by side, as `comparison` does, to `path`."""
    figure, target = comparison(panels, numbered=numbered), Path(path)
    if target.suffix.lstrip(".").lower() not in figure.canvas.get_supported_filetypes():
        raise InvalidArgumentError(f"path must end in .png, .svg or .pdf, not {target.suffix!r}: {target}")
    with replacing(target) as draft:
        figure.savefig(draft, dpi=DPI, facecolor="white")
    return target


def comparison(panels: Sequence[Panel], *, numbered: LatentGraph | None = None) -> Figure:
    """Return a figure of panels (title, graph, coordinates or None) side by side; a symbol keeps its colour in all.

    Panels of the graph `numbered` carry the numbers of its nodes, and the others no text. Where observations are not
    written and there are few of them, a legend lists them. Small graphs that carry text name their actions.
    """
    if not panels:
        raise InvalidArgumentError("panels must hold at least one (title, graph, coordinates)")
    alphabet = Alphabet(symbol for _, graph, _ in panels for symbol in graph.symbols)
    places = [positions(graph, coordinates) for _, graph, coordinates in panels]
    texts: list[Text] = [
        "observations" if numbered is None else "numbers" if graph is numbered else "nothing" for _, graph, _ in panels
    ]
    pages = [_page(graph, points, text) for (_, graph, _), points, text in zip(panels, places, texts, strict=True)]
    rooms = [_room_for_numbers(graph) if text == "numbers" else 0.0 for (_, graph, _), text in zip(panels, texts)]
    sizes = [
        _panel_size(points, room=room) if page is None else _page_size(page)
        for points, room, page in zip(places, rooms, pages, strict=True)
    ]
    widths = [max(width, 0.08 * len(title)) for (width, _), (title, _, _) in zip(sizes, panels, strict=True)]
    figure = Figure(figsize=(sum(widths), max(height for _, height in sizes) + TITLE), layout="constrained")
    # Subfigures keep the titles on one line, however high the panels are.
    parts = figure.subfigures(1, len(panels), squeeze=False, width_ratios=widths)[0]
    told = True
    for part, (title, graph, _), points, text, page in zip(parts, panels, places, texts, pages, strict=True):
        part.suptitle(title, fontsize=11, color=INK)
        told &= _draw(part.subplots(), graph, points, alphabet=alphabet, text=text, page=page)
    if not told and len(alphabet) <= LISTED:
        draw_legend(figure, alphabet.symbols, colours=palette(len(alphabet)))
    return figure


def draw(
    axes: Axes,
    graph: LatentGraph,
    *,
    coordinates: ArrayLike | None = None,
    title: str | None = None,
    alphabet: Alphabet | None = None,
    spacing: float | None = None,
) -> None:
    """Draw the graph on `axes`: nodes coloured by observation, larger where there is more left to learn.

    Actions are not named, as there may be no room for it.
    Pictures that share an `alphabet`, which must hold all their symbols, share its colours; those that share a
    `spacing`, the distance between neighbours that decides how large discs are, can be compared by size.
    """
    shared = Alphabet(graph.symbols) if alphabet is None else alphabet
    _draw(axes, graph, positions(graph, coordinates), alphabet=shared, spacing=spacing)
    if title is not None:
        axes.set_title(title, fontsize=11, color=INK)


def positions(graph: LatentGraph, coordinates: ArrayLike | None) -> Points:
    """Return where every node is drawn, shape (n, 2): across and up.

    Coordinates are (across), (across, up) or (across, up, depth); depth is drawn obliquely. Without coordinates the
    graph's own are taken, and where it has none it is laid out by its distances.
    """
    if coordinates is None:
        coordinates = graph.coordinates
    if coordinates is None:
        return layout(graph)
    given = np.asarray(coordinates, np.float64)
    table = given[:, None] if given.ndim == 1 else given
    if table.shape not in {(graph.n_nodes, n) for n in (1, 2, 3)} or not np.isfinite(table).all():
        raise InvalidArgumentError(
            f"coordinates must be 1 to 3 finite numbers for each of {graph.n_nodes} nodes, "
            f"not an array of shape {given.shape}"
        )
    return flat(table)


def _page(graph: LatentGraph, points: Points, text: Text) -> Page | None:
    """Return the graph with arrows that name their actions, or None where it is too large or to carry no text."""
    if text == "nothing":
        return None
    letters = max(map(len, _shown(graph, text)), default=1)
    radius = float(np.clip(LARGEST * LETTER * letters / 2, *ROUND))
    return set_out(graph, points, spacing=_spacing(points), radius=radius)


def _page_size(page: Page) -> tuple[float, float]:
    """Return the width and height of a panel in inches that holds all that is drawn."""
    width, height = ((page.high - page.low) / 72 + 2 * BORDER).tolist()
    return max(width, 4.0), max(height, 1.2)


def _shown(graph: LatentGraph, text: Text) -> list[str]:
    """Return what is written into the discs, where it fits."""
    return [symbol_text(item) for item in (range(graph.n_nodes) if text == "numbers" else graph.observations)]


def _panel_size(points: Points, *, room: float) -> tuple[float, float]:
    """Return the width and height of a panel in inches: the same area for every shape, more if neighbours need `room`.

    However many nodes there are, a panel with room for numbers stays below 60 inches.
    """
    if len(points) == 0:
        return 4.0, 1.2
    across, up = (np.ptp(points, axis=0) / _spacing(points) + 1.5).tolist()
    scale = min(0.5, 10.0 / max(across, up), math.sqrt(45.0 / (across * up)))
    scale = max(scale, min(room, 60.0 / max(across, up)))
    return max(across * scale, 4.0), max(up * scale, 1.2)


def _room_for_numbers(graph: LatentGraph) -> float:
    """Return how many inches neighbours must be apart for their discs to hold the numbers of nodes."""
    if graph.n_nodes == 0:
        return 0.0
    letters = len(str(graph.n_nodes - 1))
    # Axes take up three quarters of a panel before the layout is done.
    return EASY * LETTER * letters / (0.75 * 72 * 2 * float(np.median(disc_radius(graph, spacing=1.0))))


def _spacing(points: Points) -> float:
    """Return a distance that most nodes keep from their nearest neighbour."""
    if len(points) < 2:
        return 1.0
    nearest = np.asarray(cKDTree(points).query(points, k=2)[0])[:, 1]
    apart = nearest[nearest > 1e-9]
    return float(np.quantile(apart, 0.2)) if apart.size else 1.0


def _draw(
    axes: Axes,
    graph: LatentGraph,
    points: Points,
    *,
    alphabet: Alphabet,
    spacing: float | None = None,
    text: Text = "observations",
    page: Page | None = None,
) -> bool:
    """Draw the graph, or its `page` where it has one, and return whether its nodes tell what they show."""
    colours = palette(len(alphabet))[alphabet.lookup(graph.observations)]
    if page is None:
        spacing = _spacing(points) if spacing is None else spacing
        radius = disc_radius(graph, spacing=spacing)
        margin = 1.2 * max(float(radius.max(initial=0.0)), 0.5 * spacing)
        unit = _frame(axes, points, margin=margin)
        draw_links(axes, links(graph), points, radius=radius, spacing=spacing, unit=unit)
    else:
        points, radius, unit = page.points, page.radius, 1.0
        _frame_page(axes, page)
        draw_arrows(axes, page.arrows)
    draw_discs(axes, points, radius=radius, colours=colours)
    if graph.n_nodes == 0 or text == "nothing":
        return graph.n_nodes == 0
    texts = _shown(graph, text)
    fontsize = 2 * unit * float(np.median(radius)) / (LETTER * max(1, *map(len, texts)))
    fits = graph.n_nodes <= LABELLED and fontsize >= SMALLEST
    if fits or text == "numbers":
        draw_texts(axes, texts, points, fontsize=min(fontsize, LARGEST), colours=colours)
    return fits and text == "observations"


def _frame(axes: Axes, points: Points, *, margin: float) -> float:
    """Show every node whole and nothing else; return the typographic points that one unit takes up."""
    corners = np.array([points.min(axis=0), points.max(axis=0)]) if len(points) else np.zeros((2, 2))
    corners += [[-margin, -margin], [margin, margin]]
    axes.set_xlim(*corners[:, 0])
    axes.set_ylim(*corners[:, 1])
    axes.set_aspect("equal")
    axes.axis("off")
    inches = np.array([axes.bbox.width, axes.bbox.height]) / axes.figure.get_dpi()
    return float(np.min(72 * inches / np.ptp(corners, axis=0)))


def _frame_page(axes: Axes, page: Page) -> None:
    """Show the page in its own size, however much more room there is around it."""
    room = np.array([axes.figure.bbox.width, axes.figure.bbox.height]) / axes.figure.get_dpi() - [2 * BORDER, TITLE]
    middle, half = (page.low + page.high) / 2, np.maximum(page.high - page.low, 72 * room) / 2
    _frame(axes, np.array([middle - half, middle + half]), margin=0.0)
