from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from graph_examples import grid, scrambled, stochastic_graphs
from hypothesis import given
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from efex.graph import LatentGraph
from efex.graph.layout import layout


def chain(length: int) -> LatentGraph:
    forward = np.eye(length, k=1)
    forward[-1, -1] = 1
    return LatentGraph.from_matrices(range(length), [forward, forward[::-1, ::-1]])


def test_a_chain_is_a_straight_line():
    points = layout(chain(30))
    assert np.ptp(points[:, 1]) < 1e-3
    assert np.abs(np.diff(points[:, 0])) == pytest.approx(np.ones(29), abs=1e-3)


def test_a_grid_is_a_grid():
    graph = scrambled(grid(9, symbols=5))
    points = layout(graph)
    steps = shortest_path(sum(graph.transition(a) for a in range(4)), unweighted=True)
    ratio = cdist(points, points)[steps > 0] / steps[steps > 0]
    assert 0.6 < ratio.min() < ratio.max() < 1.5
    near = np.linalg.norm(points[graph.source] - points[graph.target], axis=1)[graph.source != graph.target]
    assert near.std() / near.mean() < 0.1
    along = points[graph.target] - points[graph.source]
    assert np.abs(along).min(axis=1).max() < 0.3, "edges run across and up"


def test_slips_and_teleports_do_not_fold_the_picture():
    straight, slippery = (layout(scrambled(grid(8, symbols=5, slip=slip))) for slip in (0.0, 0.3))
    assert cdist(straight, straight) == pytest.approx(cdist(slippery, slippery), abs=1e-6)


def test_the_layout_is_deterministic_and_fast():
    graph = scrambled(grid(21, symbols=44))
    seconds, runs = [], []
    for _ in range(3):
        begin = time.perf_counter()
        runs.append(layout(graph))
        seconds.append(time.perf_counter() - begin)
    assert min(seconds) < 2
    assert np.array_equal(runs[0], runs[1])


def test_landmarks_lay_out_large_graphs():
    graph = scrambled(grid(40, symbols=50))
    points = layout(graph)
    near = np.linalg.norm(points[graph.source] - points[graph.target], axis=1)[graph.source != graph.target]
    assert np.median(near) == pytest.approx(1, abs=0.4)
    assert cdist(points[[0]], points[[-1]])[0, 0] > 40


@pytest.mark.parametrize("kind", [replace, scrambled])
def test_components_lie_side_by_side(kind):
    left = kind(grid(4, symbols=3))
    matrices = [np.kron(np.eye(3), left.transition(a).toarray()) for a in range(4)]
    both = LatentGraph.from_matrices(left.observations * 3, matrices)
    points = layout(both).reshape(3, 16, 2)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        assert cdist(points[first], points[second]).min() > 1.5


@given(stochastic_graphs(max_nodes=12))
def test_any_graph_has_a_layout(graph):
    points = layout(graph)
    assert points.shape == (graph.n_nodes, 2)
    assert np.isfinite(points).all()


def test_graphs_without_edges_have_a_layout():
    lonely = LatentGraph.from_walks(range(9), 2, [])
    points = layout(lonely)
    assert cdist(points, points)[~np.eye(9, dtype=bool)].min() > 1
    assert layout(LatentGraph.from_walks([], 2, [])).shape == (0, 2)
    assert layout(replace(lonely, observations=("a",))).tolist() == [[0.0, 0.0]]
