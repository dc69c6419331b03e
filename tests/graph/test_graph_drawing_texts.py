from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from graph_examples import grid
from matplotlib.collections import EllipseCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import efex
from efex.graph import LatentGraph
from efex.graph.drawing import LISTED, comparison

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


@pytest.mark.parametrize("size", [3, 11, 20])
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
    env = efex.make("grid2d", size=3, unique_fraction=1.0)
    run = efex.explore(env, steps=300, progress=False)
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
