"""Credible intervals of edges: their ends, and how often they hold the truth."""

import math

import networkx as nx
import numpy as np
import pytest
from graph_examples import grid
from scipy.stats import beta

from efex.graph import Edge, LatentGraph
from efex.graph.interval import interval


def walked(*counts):
    """The graph of one node that was left `counts[i]` times for node i."""
    steps = [(0, 0, target) for target, count in enumerate(counts) for _ in range(count)]
    return LatentGraph.from_walks(range(len(counts)), 1, steps)


def test_an_edge_says_how_sure_it_is_after_what_it_said_before():
    assert Edge._fields == ("source", "action", "target", "probability", "count", "low", "high")
    often, seldom = walked(7, 3).edges()
    assert (often.low, often.high) == pytest.approx(beta(7.5, 3.5).interval(0.95))
    assert (seldom.low, seldom.high) == pytest.approx(beta(3.5, 7.5).interval(0.95))


def test_exact_edges_have_no_doubt():
    assert all(edge.low == edge.probability == edge.high for edge in grid(3, symbols=2, slip=0.2).edges())


@pytest.mark.parametrize("walks", [1, 2, 10, 1000])
def test_what_always_happened_may_be_certain(walks):
    (edge,) = walked(walks).edges()
    assert edge.high == 1
    assert edge.low == pytest.approx(beta(walks + 0.5, 0.5).ppf(0.025))


def test_an_interval_narrows_and_holds_what_was_counted():
    widths = []
    for scale in (1, 10, 100, 1000):
        edges = list(walked(scale, 2 * scale, scale).edges())
        assert all(0 < edge.low < edge.probability < edge.high < 1 for edge in edges)
        widths.append(edges[0].high - edges[0].low)
    assert widths == sorted(widths, reverse=True)


def test_a_probability_given_beside_its_counts_is_credible():
    low, high = interval(np.array([0.9, 0.1, 0.5]), np.array([0.0, 0.0, math.inf]), np.array([0.0, 50.0, math.inf]))
    assert low.tolist() == [0, 0, 0.5]
    assert high[0] == 1
    assert high[1] == 0.1
    assert high[2] == 0.5


@pytest.mark.parametrize("visits", [5, 12, 30, 80, 200])
def test_the_interval_holds_the_truth_as_often_as_it_says(visits):
    random = np.random.default_rng(0)
    truth = random.random(40_000)
    count = random.binomial(visits, truth).astype(float)
    low, high = interval(count / visits, count, np.full(count.shape, float(visits)))
    assert 0.94 < np.mean((low <= truth) & (truth <= high)) < 0.965


@pytest.mark.parametrize("share", [1.0, 0.95, 0.8, 0.5, 0.2])
def test_no_truth_is_missed_much_more_often(share):
    # A count is a whole number, so coverages go up and down around 95 %: below 90 % is worth a look.
    for visits in (5, 12, 30, 80, 200):
        count = np.random.default_rng(1).binomial(visits, share, size=20_000).astype(float)
        low, high = interval(count / visits, count, np.full(count.shape, float(visits)))
        assert np.mean((low <= share) & (share <= high)) > 0.9


def test_edges_of_a_walked_graph_hold_the_truth():
    truth = np.random.default_rng(2).dirichlet(np.ones(4), size=300)
    random = np.random.default_rng(3)
    steps = [(0, row, target) for row in range(300) for target in random.choice(4, size=40, p=truth[row])]
    graph = LatentGraph.from_walks(range(4), 300, steps)
    held = [edge.low <= truth[edge.action, edge.target] <= edge.high for edge in graph.edges()]
    assert 0.93 < np.mean(held) < 0.97


def test_the_interval_is_in_what_other_programs_read(tmp_path):
    graph = walked(7, 3)
    expected = {(edge.target, edge.low, edge.high) for edge in graph.edges()}
    exported = graph.to_networkx()
    assert {(target, d["low"], d["high"]) for _, target, d in exported.edges(data=True)} == expected
    again = nx.read_graphml(graph.write(tmp_path / "map.graphml"), node_type=int, force_multigraph=True)
    assert {(target, d["low"], d["high"]) for _, target, d in again.edges(data=True)} == expected
