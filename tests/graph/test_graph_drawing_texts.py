from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from graph_examples import grid, stochastic_graphs
from hypothesis import given, settings
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.spatial.distance import pdist

import efex
from efex.graph import LatentGraph
from efex.graph.drawing import LISTED, comparison
from efex.graph.marks import HEAD
from efex.graph.page import FEW_ARROWS, FEW_NODES

SHOWN = ["aisle", "shelf", "dock", "charger", "door"]
NUMBERS = [str(node) for node in range(15)]


def warehouse(shown: list[object]) -> LatentGraph:
    """Return a learned ring of 15 nodes: discs are small, as nothing is left to learn."""
    walks = [step for node in range(15) for step in ((node, 0, (node + 1) % 15), (node, 1, (node - 1) % 15))]
    observations = [shown[node % len(shown)] for node in range(15)]
    return replace(LatentGraph.from_walks(observations, 2, walks), utility=np.zeros(15))


def figure_of(*graphs: LatentGraph, numbered: LatentGraph | None = None) -> Figure:
    figure = comparison([("map", graph, None) for graph in graphs], numbered=numbered)
    figure.draw_without_rendering()
    return figure


def written(figure: Figure, panel: int = 0) -> list[str]:
    return [text.get_text() for text in figure.subfigs[panel].axes[0].texts]


def listed(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def discs_of(figure: Figure, panel: int = 0) -> EllipseCollection:
    (discs,) = (c for c in figure.subfigs[panel].axes[0].collections if isinstance(c, EllipseCollection))
    return discs


def texts_in(path: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text("utf-8"))


def test_observations_that_do_not_fit_are_listed_in_their_colours():
    graph = warehouse(SHOWN)
    figure = figure_of(graph)
    assert written(figure) == []
    assert listed(figure) == sorted(SHOWN)
    colours = discs_of(figure).get_facecolor()
    for name, disc in zip(listed(figure), figure.legends[0].legend_handles, strict=True):
        node = graph.observations.index(name)
        assert np.allclose(to_rgb(disc.get_color()), colours[node, :3])


@pytest.mark.parametrize("shown", [SHOWN, [f"a rather long name {i}" for i in range(15)]])
def test_the_legend_is_beside_the_maps_and_inside_the_figure(shown):
    graph = warehouse(shown)
    figure = figure_of(graph, graph)
    box = figure.legends[0].get_window_extent()
    assert all(part.axes[0].get_window_extent().x1 <= box.x0 for part in figure.subfigs)
    assert box.x1 <= figure.bbox.x1
    assert 0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_observations_that_fit_need_no_legend():
    figure = figure_of(warehouse(["a", "b"]))
    assert written(figure) == ["a", "b"] * 7 + ["a"]
    assert figure.legends == []


def test_large_maps_have_a_legend_of_few_observations_and_none_of_many():
    few, many = grid(11, symbols=LISTED), grid(11, symbols=LISTED + 1)
    assert len(few.symbols) == LISTED < len(many.symbols)
    assert listed(figure_of(few)) == [str(symbol) for symbol in sorted(few.symbols)]
    assert figure_of(many).legends == []


@pytest.mark.parametrize(
    ("shown", "names"),
    [
        (["_private_name", "$x_$ and $"], ["$x_$ and $", "_private_name"]),
        (["", "several\nlines of text"], ["''", "several lines of text"]),
        (["word" * 20, 3], ["word" * 7 + "wor…", "3"]),
    ],
)
def test_odd_names_are_listed_as_they_are_but_short(shown, names):
    assert listed(figure_of(warehouse(shown))) == names


def test_numbers_stand_in_the_nodes_and_the_legend_tells_the_observations():
    graph, truth = warehouse(["a", "b"]), warehouse(["a", "b"])
    figure = figure_of(truth, graph, numbered=graph)
    # The truth numbers its nodes in another way: its numbers would be taken for the map's.
    assert written(figure, 0) == []
    assert written(figure, 1) == NUMBERS
    assert listed(figure) == ["a", "b"]
    for text, point in zip(figure.subfigs[1].axes[0].texts, discs_of(figure, 1).get_offsets(), strict=True):
        assert np.allclose(text.get_position(), point)


@pytest.mark.parametrize("size", [4, 11, 20])
def test_numbers_fit_into_the_discs_of_large_maps_too(size):
    graph = replace(grid(size, symbols=30), utility=np.zeros(size * size))
    figure = figure_of(graph, numbered=graph)
    axes, discs = figure.subfigs[0].axes[0], discs_of(figure)
    assert written(figure) == [str(node) for node in range(graph.n_nodes)]
    width = np.ptp(axes.transData.transform([[0, 0], [discs.get_widths()[0], 0]])[:, 0])
    assert axes.texts[-1].get_window_extent().width < width
    assert axes.texts[-1].get_fontsize() > 4


def test_graphs_plot_their_numbers_only_if_asked(tmp_path):
    graph = warehouse(SHOWN)
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        plain, numbered = graph.plot(tmp_path / "a.svg"), graph.plot(tmp_path / "b.svg", numbers=True)
    title = "15 nodes, 5 observations, 30 edges"
    assert sorted(texts_in(plain)) == sorted([title, *SHOWN])
    assert sorted(texts_in(numbered)) == sorted([title, *SHOWN, *NUMBERS])


def test_runs_plot_the_numbers_of_the_map_only_if_asked(tmp_path):
    env = efex.make("grid2d", size=4, unique_fraction=1.0)
    run = efex.explore(env, steps=500, progress=False)
    graph = run.graph
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        plain, numbered = run.plot(tmp_path / "a.svg"), run.plot(tmp_path / "b.svg", numbers=True)
    observations = [str(symbol) for symbol in (*run.truth.observations, *graph.observations, *graph.observations)]
    numbers = [str(node) for node in range(graph.n_nodes)]
    names = [str(symbol) for symbol in run.truth.symbols]
    titles = [text for text in texts_in(plain) if "nodes" in text]
    assert len(titles) == 3
    assert sorted(texts_in(plain)) == sorted(titles + observations)
    assert sorted(texts_in(numbered)) == sorted(titles + 2 * numbers + names)


def machine(shown: list[object], targets: list[list[int]], names: tuple[str, ...] | None = None) -> LatentGraph:
    """Return the graph whose action a leads from node i to `targets[a][i]`."""
    matrices = [np.eye(len(shown))[row] for row in targets]
    return replace(LatentGraph.from_matrices(shown, matrices, starts=[0]), action_names=names)


def ring(n_nodes: int) -> LatentGraph:
    around = np.arange(n_nodes)
    return machine(list(around), [((around + step) % n_nodes).tolist() for step in (1, -1)], ("right", "left"))


def crowd(n_nodes: int, n_actions: int) -> LatentGraph:
    """Return a machine in which every action leads from every node to another one."""
    around = np.arange(n_nodes)
    return machine(list(around), [((around + step) % n_nodes).tolist() for step in range(n_actions)])


DOORS = ["dark", "lit", "dark", "door", "end"], [[0, 0, 1, 2, 4], [1, 2, 3, 3, 4], [0, 0, 2, 4, 4]]
NAMES = ("left", "right", "press")
CORRIDOR = machine(*DOORS, NAMES)
COIN = LatentGraph.from_matrices(["heads", "tails"], [np.full((2, 2), 0.5)])
TALKATIVE = machine(["kitchen", "bathroom"], [[1, 0], [1, 1], [0, 1]], ("walk through the door", "go", "wait and see"))
SMALL = {
    "corridor": CORRIDOR,
    "ring": ring(5),
    "coin": COIN,
    "one": machine(["hall"], [[0], [0], [0]]),
    "talkative": TALKATIVE,
    "grid": grid(3, symbols=4),
    "maze": machine(list("abc" * 4), np.random.default_rng(0).integers(12, size=(3, 12)).tolist(), NAMES),
    "all to all": replace(crowd(5, 5), action_names=("waiting", "forwards", "sideways", "leftwards", "backwards")),
    "half-learned": replace(CORRIDOR, utility=np.array([0.0, 0.0, 0.1, 2.0, 0.5])),
    "in one place": replace(ring(4), coordinates=np.zeros((4, 2))),
}


def labels_of(figure: Figure, panel: int = 0) -> list[Text]:
    """Return the texts that are not in the discs."""
    places = discs_of(figure, panel).get_offsets()
    texts = figure.subfigs[panel].axes[0].texts
    return [text for text in texts if not np.isclose(places, text.get_position()).all(axis=1).any()]


def said(*graphs: LatentGraph, panel: int = 0, numbered: LatentGraph | None = None) -> list[str]:
    return sorted(text.get_text() for text in labels_of(figure_of(*graphs, numbered=numbered), panel))


def curves_of(figure: Figure) -> list[np.ndarray]:
    (lines,) = (c for c in figure.subfigs[0].axes[0].collections if isinstance(c, LineCollection))
    return lines.get_segments()


def test_small_maps_name_the_actions_of_their_edges():
    leads = ["left, press", "right", "left", "right", "left", "right", "press"]
    stays = ["left, press", "press", "right", "left, right, press"]
    assert said(CORRIDOR) == sorted(leads + stays)
    assert said(ring(5)) == ["left"] * 5 + ["right"] * 5
    assert said(machine(*DOORS))[0] == "0"


def test_probabilities_stand_behind_the_names_of_uncertain_actions():
    assert said(COIN) == ["0 0.5"] * 4
    chances = [[0.9, 0.1 - 0.049, 0.049], [0.003, 0.997, 0.0], [1 / 3, 0.0, 2 / 3]]
    graph = LatentGraph.from_matrices("abc", [chances])
    assert said(replace(graph, action_names=("press",))) == sorted(
        ["press 0.9", "press 0.05", "press", "press 0.33", "press 0.67"]
    )


def test_an_arrow_of_many_actions_tells_how_many():
    assert said(machine(["a"], [[0]] * 4)) == ["0, 1, 2, 3"]
    assert said(machine(["a"], [[0]] * 5)) == ["5 actions"]


def test_long_names_are_cut_and_broken_into_lines():
    assert said(TALKATIVE) == ["go, wait and see", "wait and see", "walk through the do…", "walk through the do…,\ngo"]


@pytest.mark.parametrize("graph", [ring(FEW_NODES + 1), crowd(FEW_NODES, FEW_ARROWS // FEW_NODES + 1)])
def test_large_maps_name_no_actions(graph):
    assert said(graph) == []


@pytest.mark.parametrize("graph", [ring(FEW_NODES), crowd(FEW_NODES, FEW_ARROWS // FEW_NODES)])
def test_the_largest_of_the_small_maps_name_theirs(graph):
    assert len(said(graph)) == graph.n_edges


def test_numbered_maps_name_their_actions_and_panels_without_text_do_not():
    truth, graph = replace(CORRIDOR), CORRIDOR
    assert said(truth, graph, panel=0, numbered=graph) == []
    assert said(truth, graph, panel=1, numbered=graph) == said(CORRIDOR)
    assert written(figure_of(truth, graph, numbered=graph), 1)[-5:] == list("01234")


@pytest.mark.parametrize("graph", SMALL.values(), ids=SMALL)
def test_every_arrow_is_drawn_with_a_head_at_its_node(graph):
    figure = figure_of(graph)
    pairs = {(edge.source, edge.target) for edge in graph.edges()}
    discs = discs_of(figure)
    places, radius = discs.get_offsets(), discs.get_widths() / 2
    found = set()
    for curve in curves_of(figure):
        source, target = (int(np.argmin(np.linalg.norm(places - end, axis=1) - radius)) for end in curve[[0, -1]])
        assert np.abs(np.linalg.norm(curve[-1] - places[target]) - radius[target]) < 2
        found.add((source, target))
    assert found == pairs
    assert len(curves_of(figure)) == len(pairs)
    (heads,) = (c for c in figure.subfigs[0].axes[0].collections if isinstance(c, PolyCollection))
    for curve, head in zip(curves_of(figure), heads.get_paths(), strict=True):
        assert np.allclose(head.vertices[0], curve[-1])
        assert np.linalg.norm(head.vertices[1] - head.vertices[0]) == pytest.approx(HEAD, rel=0.1)


def test_loops_go_out_of_their_node_and_back():
    figure = figure_of(machine(["hall"], [[0]]))
    (loop,) = curves_of(figure)
    (radius,) = discs_of(figure).get_widths() / 2
    away = np.linalg.norm(loop - discs_of(figure).get_offsets()[0], axis=1)
    assert away[[0, -1]] == pytest.approx(radius)
    assert away.max() > radius + 10
    assert (away > radius - 1e-6).all()


def test_arrows_there_and_back_are_two():
    there, back = curves_of(figure_of(machine(["a", "b"], [[1, 0]])))
    middle = len(there) // 2
    assert np.linalg.norm(there[middle] - back[middle]) > 10


def boxes(texts: list[Text]) -> np.ndarray:
    """Return left, low, right and high of every text in pixels."""
    return np.array([text.get_window_extent().extents for text in texts])


def check_legible(figure: Figure, panel: int = 0) -> None:
    """Check that labels are large enough, inside the figure, and neither on discs nor on one another."""
    labels, axes, discs = labels_of(figure, panel), figure.subfigs[panel].axes[0], discs_of(figure, panel)
    assert min(text.get_fontsize() for text in labels) >= 6
    left, low, right, high = boxes(labels).T
    assert min(left.min(), low.min()) >= 0
    assert right.max() <= figure.bbox.width
    assert high.max() <= figure.bbox.height
    apart = (left[:, None] >= right) | (right[:, None] <= left) | (low[:, None] >= high) | (high[:, None] <= low)
    assert (apart | np.eye(len(labels), dtype=bool)).all()
    places = axes.transData.transform(discs.get_offsets())
    (unit,) = np.diff(axes.transData.transform([[0, 0], [1, 0]])[:, 0])
    # Beside named arrows a unit is a typographic point: if it were less, labels had less room than they were set in.
    assert unit >= 0.99 * figure.get_dpi() / 72
    pixels = discs.get_widths() / 2 * unit
    corner = np.stack([left, low], axis=1)[:, None], np.stack([right, high], axis=1)[:, None]
    gap = np.maximum(np.maximum(corner[0] - places, places - corner[1]), 0)
    assert (np.linalg.norm(gap, axis=2) > pixels - 1).all()


@pytest.mark.parametrize("graph", SMALL.values(), ids=SMALL)
def test_labels_are_legible(graph):
    check_legible(figure_of(graph))


def test_labels_are_legible_in_every_panel_and_beside_a_legend():
    shown = replace(SMALL["grid"], observations=tuple(f"a rather long name {i}" for i in range(9)))
    figure = figure_of(shown, CORRIDOR, warehouse(SHOWN), SMALL["one"])
    assert listed(figure)
    for panel in (0, 1, 3):
        check_legible(figure, panel)


@settings(max_examples=10, deadline=None)
@given(stochastic_graphs(max_nodes=5))
def test_labels_of_any_small_map_stay_inside_the_figure(graph):
    figure = figure_of(graph)
    texts = figure.subfigs[0].axes[0].texts
    left, low, right, high = boxes(texts).T
    assert min(left.min(), low.min()) >= 0
    assert right.max() <= figure.bbox.width
    assert high.max() <= figure.bbox.height


def test_nodes_in_one_place_are_drawn_apart_where_they_are_few():
    discs = discs_of(figure_of(SMALL["in one place"]))
    assert pdist(discs.get_offsets()).min() > discs.get_widths().max()
