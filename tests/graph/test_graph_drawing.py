from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graph_examples import grid, stochastic_graphs
from hypothesis import given, settings
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection
from matplotlib.figure import Figure
from scipy.spatial.distance import pdist

from efex.errors import InvalidArgumentError
from efex.graph import LatentGraph
from efex.graph.drawing import draw, plot, plot_comparison, positions
from efex.graph.palette import palette

PNG = b"\x89PNG"


def drawn(graph: LatentGraph, **options: object) -> Figure:
    figure = Figure()
    draw(figure.subplots(), graph, **options)
    figure.draw_without_rendering()
    return figure


def test_pictures_are_written(tmp_path):
    graph = grid(5, symbols=4)
    recovered = replace(graph, utility=np.linspace(0, 3, 25))
    one = graph.plot(tmp_path / "one.png", coordinates=graph.coordinates)
    own = plot(recovered, tmp_path / "own.png")
    panels = [("truth", graph, graph.coordinates), ("map", recovered, graph.coordinates), ("own", recovered, None)]
    three = plot_comparison(tmp_path / "three.png", panels)
    assert all(path.read_bytes().startswith(PNG) for path in (one, own, three))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.png", "own.png", "three.png"]


@settings(max_examples=10, deadline=None)
@given(stochastic_graphs(max_nodes=9))
def test_any_graph_can_be_drawn(graph):
    assert drawn(graph).axes


@pytest.mark.parametrize("n_nodes", [0, 1, 2])
def test_the_smallest_graphs_can_be_drawn(n_nodes, tmp_path):
    graph = LatentGraph.from_walks(range(n_nodes), 1, [])
    assert graph.plot(tmp_path / "map.png").stat().st_size > 0
    assert graph.plot(tmp_path / "numbers.png", numbers=True).stat().st_size > 0


def test_no_node_is_clipped():
    graph = replace(grid(5, symbols=4), utility=np.full(25, 100.0))
    axes = drawn(graph, coordinates=graph.coordinates, title="map").axes[0]
    (discs,) = (c for c in axes.collections if isinstance(c, EllipseCollection))
    radius = discs.get_widths().max() / 2
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    assert (left, low) < (-radius, -4 - radius)
    assert (right, high) > (4 + radius, radius)


def test_nodes_with_more_to_learn_are_larger():
    graph = replace(grid(3, symbols=4), utility=np.array([0, 0, 2, *[0.001] * 6]))
    (discs,) = (c for c in drawn(graph).axes[0].collections if isinstance(c, EllipseCollection))
    widths = discs.get_widths()
    assert widths[2] > 2 * widths[0]
    assert widths[3] < 1.1 * widths[0]


def test_one_way_edges_carry_arrows_and_loops_are_not_drawn():
    graph = LatentGraph.from_walks("abc", 1, [(0, 0, 1), (1, 0, 0), (1, 0, 2), (2, 0, 2)])
    axes = drawn(graph).axes[0]
    (lines,) = (c for c in axes.collections if isinstance(c, LineCollection))
    (heads,) = (c for c in axes.collections if isinstance(c, PolyCollection))
    assert len(lines.get_segments()) == 2
    assert len(heads.get_paths()) == 1
    tip = heads.get_paths()[0].vertices[0]
    points = positions(graph, None)
    assert np.linalg.norm(tip - points[2]) < np.linalg.norm(tip - points[1])


@pytest.mark.parametrize("spread", [1.0, 50.0])
def test_arrowheads_are_small_and_opaque_however_small_the_map(spread):
    graph = LatentGraph.from_walks("abc", 1, [(0, 0, 1), (1, 0, 2)])
    axes = drawn(graph, coordinates=spread * np.array([[0, 0], [1, 0], [2, 0]])).axes[0]
    (heads,) = (c for c in axes.collections if isinstance(c, PolyCollection))
    assert (heads.get_facecolor()[:, 3] == 1).all()
    pixels = axes.transData.transform(heads.get_paths()[0].vertices)
    assert 2 < np.ptp(pixels[:, 0]) * 72 / axes.figure.get_dpi() < 8


def test_coordinates_go_across_and_up_and_depth_is_oblique():
    cube = LatentGraph.from_walks(range(3), 1, [])
    assert positions(cube, [[0, 0], [1, 0], [0, 1]]).tolist() == [[0, 0], [1, 0], [0, 1]]
    assert positions(cube, [0, 1, 2]).tolist() == [[0, 0], [1, 0], [2, 0]]
    depth = positions(cube, [[0, 0, 0], [0, 0, 1], [1, 0, 0]])
    assert (depth[1] > 0).all()
    grid3d = np.stack(np.meshgrid(*[np.arange(7)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    assert pdist(positions(LatentGraph.from_walks(range(343), 1, []), grid3d)).min() > 0.15


def test_a_symbol_keeps_its_colour_across_panels(tmp_path, monkeypatch):
    drawn_colours = []
    monkeypatch.setattr(
        "efex.graph.drawing.draw_discs", lambda *args, colours, **options: drawn_colours.append(colours)
    )
    graph = LatentGraph.from_walks("ab", 1, [(0, 0, 1)])
    plot_comparison(tmp_path / "map.png", [("one", graph, None), ("two", graph.relabel([1, 0]), None)])
    assert np.array_equal(drawn_colours[0], drawn_colours[1][::-1])


def test_fifty_colours_are_distinct():
    colours = palette(50)
    assert pdist(colours).min() > 0.1
    assert np.array_equal(palette(5), colours[:5])
    assert palette(1000).shape == (1000, 3)


@pytest.mark.parametrize("coordinates", [[[0, 0]], np.zeros((4, 4)), np.full((4, 2), np.nan), 3.0])
def test_bad_coordinates_are_named(coordinates, tmp_path):
    with pytest.raises(InvalidArgumentError, match="coordinates must be 1 to 3 finite numbers"):
        grid(2, symbols=2).plot(tmp_path / "map.png", coordinates=coordinates)


def test_bad_pictures_are_named(tmp_path):
    with pytest.raises(InvalidArgumentError, match="panels must hold"):
        plot_comparison(tmp_path / "map.png", [])
    with pytest.raises(InvalidArgumentError, match="must end in"):
        grid(2, symbols=2).plot(tmp_path / "map.xyz")
