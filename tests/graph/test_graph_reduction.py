"""Changed graphs: what is renumbered stays the same graph, and a start that is hardly known is pruned."""

from dataclasses import replace

import pytest

from efex.errors import InvalidArgumentError
from efex.graph import LatentGraph
from efex.graph.reduction import renumber_actions

SWITCH = LatentGraph.from_walks(
    ["off", "on"],
    3,
    [(0, 0, 1), (1, 1, 0), (1, 2, 1)],
    times=[3, 2, 1],
    starts=[0],
    action_names=["up", "down", "wait"],
)


def test_renumbered_actions_keep_their_names_edges_and_closed_doors():
    graph = SWITCH.block(0, "wait").tag(1, light=True)
    turned = renumber_actions(graph, [1, 2, 0])
    assert turned.action_names == ("wait", "up", "down")
    assert [edge[:5] for edge in turned.edges()] == [(1, 0, 1, 1.0, 1.0), (0, 1, 1, 1.0, 3.0), (1, 2, 0, 1.0, 2.0)]
    assert turned.closed.tolist() == [[True, False, False], [False, False, False]]
    assert turned.tags == graph.tags
    assert turned.starts == graph.starts
    again = renumber_actions(turned, [2, 0, 1])
    assert list(again.edges()) == list(graph.edges())
    assert again.action_names == graph.action_names


def test_actions_need_no_names_to_be_renumbered():
    turned = renumber_actions(replace(SWITCH, action_names=None), [2, 1, 0])
    assert turned.action_names is None
    assert turned.transition(2).toarray().tolist() == SWITCH.transition("up").toarray().tolist()


def test_an_order_that_is_none_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"order must be a permutation of 0 to 2, not \[0, 0, 1\]"):
        renumber_actions(SWITCH, [0, 0, 1])


def test_a_start_that_one_episode_left_is_pruned_with_its_edge():
    # Node 0 was left once, after a while, and never come back to: it is node 1, not recognised.
    steps, times = [(0, 1, 0), (0, 0, 2), (1, 0, 2), (1, 1, 1), (2, 0, 1)], [1, 1, 9, 9, 9]
    graph = LatentGraph.from_walks("aab", 2, steps, times=times, starts=[0]).tag(2, light=True)
    pruned = graph.prune(min_count=2)
    assert pruned.observations == ("a", "b")
    assert pruned.starts == ()
    assert pruned.tags == {1: {"light": True}}
    assert [edge[:3] for edge in pruned.edges()] == [(0, 0, 1), (1, 0, 0), (0, 1, 0)]
    assert graph.prune(min_probability=0.5).starts == (0,)  # its edges are certain
    assert graph.prune().n_nodes == 3


def test_a_start_of_more_episodes_stays():
    graph = LatentGraph.from_walks("ab", 1, [(0, 0, 1), (1, 0, 1)], times=[2, 9], starts=[0])
    exact = LatentGraph.from_matrices("ab", [[[0.5, 0.5], [0, 1]]], starts=[0])
    for start in (graph.prune(min_count=10), exact.prune(min_probability=1.1)):
        assert (start.observations, start.starts, start.n_edges) == (("a",), (0,), 0)


def test_a_start_that_nobody_left_stays():
    graph = LatentGraph.from_walks("ab", 1, [(1, 0, 1)], starts=[0])
    assert graph.prune(min_count=2).observations == ("a",)
