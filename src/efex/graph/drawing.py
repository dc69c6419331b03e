"""Pictures of graphs: nodes in the colours of their observations, where the world or the graph itself puts them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from efex.errors import InvalidArgumentError
from efex.experience import Alphabet
from efex.graph.export import replacing
from efex.graph.latent import LatentGraph
from efex.graph.layout import layout
from efex.graph.marks import INK, Points, disc_radius, draw_discs, draw_labels, draw_links, links
from efex.graph.palette import palette

OBLIQUE = np.array([0.38, 0.30])
"""How far one step of depth moves a node right and up, in steps."""

DPI = 150


def plot(graph: LatentGraph, path: str | Path, *, coordinates: ArrayLike | None = None) -> Path:
    """Draw the graph to `path`: on `coordinates`, or on its own, or laid out by its own distances."""
    counted = ((graph.n_nodes, "node"), (len(graph.symbols), "observation"), (graph.n_edges, "edge"))
    title = ", ".join(f"{number:,} {noun}{'s' * (number != 1)}" for number, noun in counted)
    return plot_comparison(path, [(title, graph, coordinates)])


def plot_comparison(path: str | Path, panels: Sequence[tuple[str, LatentGraph, ArrayLike | None]]) -> Path:
    """Draw panels of (title, graph, coordinates or None) side by side; a symbol keeps its colour in all."""
    if not panels:
        raise InvalidArgumentError("panels must hold at least one (title, graph, coordinates)")
    alphabet = Alphabet(symbol for _, graph, _ in panels for symbol in graph.symbols)
    places = [positions(graph, coordinates) for _, graph, coordinates in panels]
    sizes = [_panel_size(points) for points in places]
    widths = [width for width, _ in sizes]
    figure = Figure(figsize=(sum(widths), max(height for _, height in sizes) + 0.45), layout="constrained")
    # Subfigures keep the titles on one line, however high the panels are.
    parts = figure.subfigures(1, len(panels), squeeze=False, width_ratios=widths)[0]
    for part, (title, graph, _), points in zip(parts, panels, places, strict=True):
        part.suptitle(title, fontsize=11, color=INK)
        _draw(part.subplots(), graph, points, alphabet=alphabet)
    target = Path(path)
    if target.suffix.lstrip(".").lower() not in figure.canvas.get_supported_filetypes():
        raise InvalidArgumentError(f"path must end in .png, .svg or .pdf, not {target.suffix!r}: {target}")
    with replacing(target) as draft:
        figure.savefig(draft, dpi=DPI, facecolor="white")
    return target


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
    if table.shape[1] == 1:
        return np.column_stack([table[:, 0], np.zeros(len(table))])
    return table[:, :2] + table[:, 2:] * OBLIQUE if table.shape[1] == 3 else table


def _panel_size(points: Points) -> tuple[float, float]:
    """Return the width and height of a panel in inches: room for the nodes, the same area for every shape."""
    if len(points) == 0:
        return 4.0, 1.2
    across, up = (np.ptp(points, axis=0) / _spacing(points) + 1.5).tolist()
    scale = min(0.5, 10.0 / max(across, up), math.sqrt(45.0 / (across * up)))
    return max(across * scale, 4.0), max(up * scale, 1.2)


def _spacing(points: Points) -> float:
    """Return a distance that most nodes keep from their nearest neighbour."""
    if len(points) < 2:
        return 1.0
    nearest = np.asarray(cKDTree(points).query(points, k=2)[0])[:, 1]
    apart = nearest[nearest > 1e-9]
    return float(np.quantile(apart, 0.2)) if apart.size else 1.0


def _draw(axes: Axes, graph: LatentGraph, points: Points, *, alphabet: Alphabet, spacing: float | None = None) -> None:
    spacing = _spacing(points) if spacing is None else spacing
    radius = disc_radius(graph, spacing=spacing)
    colours = palette(len(alphabet))[alphabet.lookup(graph.observations)]
    unit = _frame(axes, points, margin=1.2 * max(float(radius.max(initial=0.0)), 0.5 * spacing))
    draw_links(axes, links(graph), points, radius=radius, spacing=spacing)
    draw_discs(axes, points, radius=radius, colours=colours)
    size = 2 * unit * float(np.median(radius)) if len(radius) else 0.0
    draw_labels(axes, graph, points, size=size, colours=colours)


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
