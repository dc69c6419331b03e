"""Plans, blocked pairs, and what a plan is asked for."""

from itertools import pairwise

import numpy as np
import pytest
from graph_examples import grid, stochastic_graphs
from hypothesis import given
from hypothesis import strategies as st

import efex
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.graph import LatentGraph, Plan
from efex.graph.routes import routes

UP, DOWN, LEFT, RIGHT = range(4)


def test_a_plan_on_a_grid_is_walked_as_it_says():
    graph = grid(5, symbols=3)
    plan = graph.plan(0, to=24)
    assert isinstance(plan, Plan)
    assert (plan.expected_steps, len(plan.actions), plan.targets, plan.probability) == (8, 8, (24,), 1)
    assert (plan.nodes[0], plan.nodes[-1]) == (0, 24)
    for action, (here, there) in zip(plan.actions, pairwise(plan.nodes), strict=True):
        assert graph.transition(action)[here, there] == 1
        assert plan.policy[here] == action


def test_a_plan_takes_a_shortcut_that_nobody_walked():
    # The long way round, and another walk that crosses it at the well: on (0), and off the way (1) over the field.
    round_about = (["home", "gate", "well", "mill", "ford", "wood", "inn"], [0] * 6)
    across = (["barn", "well", "field", "inn"], [0, 1, 0])
    fit = efex.learn(Experience.from_episodes([round_about, across], n_actions=2))
    graph, walked = fit.graph, fit.nodes.tolist()
    home = graph.observations.index("home")
    plan = graph.plan(home, observation="inn")
    assert [graph.observations[node] for node in plan.nodes] == ["home", "gate", "well", "field", "inn"]
    assert (plan.actions, plan.expected_steps) == ((0, 0, 1, 0), 4)
    # Its two halves are of different episodes: nobody went from the gate to the well and on to the field.
    pieces = [tuple(walked[t : t + 3]) for t in range(len(walked) - 2)]
    assert plan.nodes[:3] in pieces
    assert plan.nodes[2:] in pieces
    assert plan.nodes[1:4] not in pieces


@given(stochastic_graphs(), st.data())
def test_the_likeliest_run_is_the_most_probable_of_all(graph, data):
    source, target = (data.draw(st.integers(0, graph.n_nodes - 1)) for _ in range(2))
    steps, policy = routes(graph, [target])
    if source != target and policy[source] < 0:
        with pytest.raises(InvalidArgumentError, match="targets must be within reach"):
            graph.plan(source, to=target)
        return

    def best(node, visited):
        """The highest probability of a path to the target without loops: a loop only makes it less."""
        if node == target:
            return 1.0
        row = graph.transition(int(policy[node])).toarray()[node] if policy[node] >= 0 else []
        onward = [(p, there) for there, p in enumerate(row) if p > 0 and there not in visited]
        return max((p * best(there, visited | {there}) for p, there in onward), default=0.0)

    plan = graph.plan(source, to=target)
    assert plan.probability == pytest.approx(best(source, {source}), rel=1e-9)
    assert plan.expected_steps == steps[source]
    walked = [
        graph.transition(a)[[here]].toarray()[0, there]
        for a, (here, there) in zip(plan.actions, pairwise(plan.nodes), strict=True)
    ]
    assert np.prod(walked) == pytest.approx(plan.probability, rel=1e-9)


def test_a_run_does_not_wait_at_an_action_that_mostly_fails():
    graph = LatentGraph.from_matrices("ab", [[[0.9, 0.1], [0, 1]]])
    plan = graph.plan(0, to=1)
    assert (plan.actions, plan.nodes) == ((0,), (0, 1))
    assert plan.expected_steps == pytest.approx(10)
    assert plan.probability == pytest.approx(0.1)


def test_the_nearest_of_several_targets_is_taken():
    graph = grid(5, symbols=3)
    plan = graph.plan(0, to={24, 3, 20})
    assert (plan.targets, plan.nodes[-1]) == ((3, 20, 24), 3)


def test_a_target_can_be_what_is_seen():
    graph = LatentGraph.from_walks(["a", "b", "c", "b"], 1, [(0, 0, 2), (2, 0, 3), (3, 0, 1)])
    plan = graph.plan(0, observation="b")
    assert (plan.targets, plan.nodes) == ((1, 3), (0, 2, 3))


def test_an_observation_is_taken_raw():
    graph = LatentGraph.from_walks([(0, 0), (0, 1)], 1, [(0, 0, 1)])
    assert graph.plan(0, observation=np.array([0, 1])).targets == (1,)
    with pytest.raises(InvalidArgumentError, match="2 symbols that nodes show"):
        graph.plan(0, observation=[0, True])


def test_a_target_can_be_a_tag():
    graph = grid(3, symbols=2).tag(8, room="kitchen").tag(2, room="hall")
    assert graph.plan(0, tag="room").targets == (2, 8)
    assert graph.plan(0, tag=("room", "kitchen")).targets == (8,)
    with pytest.raises(InvalidArgumentError, match="names in use are room"):
        graph.plan(0, tag=("room", "attic"))
    with pytest.raises(InvalidArgumentError, match="names in use are none"):
        grid(3, symbols=2).plan(0, tag="room")


def test_a_plan_to_where_one_is_has_no_actions():
    plan = grid(3, symbols=2).plan(4, to=[4, 5])
    assert (plan.actions, plan.nodes, plan.expected_steps) == ((), (4,), 0)


def test_an_uncertain_arrival_is_planned_for_and_said():
    risky = LatentGraph.from_matrices("abc", [[[0, 0.6, 0.4], [0, 1, 0], [0, 0, 1]]])
    plan = risky.plan(0, to=1)
    assert (plan.actions, plan.expected_steps, plan.probability) == ((0,), np.inf, 0.6)


@pytest.mark.parametrize(
    ("source", "asked", "says"),
    [
        (0, {}, "exactly one of to, observation and tag"),
        (0, {"to": 1, "tag": "room"}, "exactly one"),
        (0, {"to": 9}, "nodes 0 to 8, not 9"),
        (0, {"to": []}, "one or more"),
        (0, {"to": 1.5}, "whole number"),
        (0, {"to": True}, "whole number"),
        (0, {"to": -1}, "at least 0"),
        (0, {"observation": "pink"}, "'pink'"),
        (0, {"tag": 3}, "a pair of a name and a value"),
        (9, {"to": 1}, "source must be a node 0 to 8"),
        (None, {"to": 1}, "source must be"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(source, asked, says):
    with pytest.raises(InvalidArgumentError, match=says):
        grid(3, symbols=2).plan(source, **asked)


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        ("solt", r"not 'solt'; did you mean 'salt'\?$"),
        ("7", r"not '7'; did you mean 7\?$"),
        (7.5, r"not 7\.5$"),
        (8, r"not 8$"),
        ("fire", r"not 'fire'$"),
    ],
)
def test_an_observation_that_is_none_is_told_what_is_near(seen, says):
    graph = LatentGraph.from_walks(["salt", "water", 7, 78], 1, [(0, 0, 1), (1, 0, 2), (2, 0, 3)])
    with pytest.raises(InvalidArgumentError, match=says):
        graph.plan(0, observation=seen)


def test_a_blocked_pair_is_closed_and_walked_around():
    graph = grid(3, symbols=2)
    blocked = graph.block(0, RIGHT).block(3, RIGHT)
    assert graph.plan(0, to=2).expected_steps == 2
    assert blocked.plan(0, to=2).expected_steps == 6
    assert blocked.closed.sum() == 2
    assert not blocked.tried[0, RIGHT]
    assert not blocked.untried.any()
    assert blocked.n_edges == graph.n_edges - 2
    assert graph.closed is None
    assert blocked.starts == graph.starts
    assert np.array_equal(blocked.coordinates, graph.coordinates)


def test_blocking_twice_is_blocking_once_and_an_untried_pair_can_be_blocked():
    graph = LatentGraph.from_walks("ab", 2, [(0, 0, 1)], utility=[1.0, 2.0]).tag(1, room="hall")
    once = graph.block(0, 1)
    twice = once.block(0, 1)
    assert once.closed.tolist() == twice.closed.tolist() == [[False, True], [False, False]]
    assert list(once.edges()) == list(graph.edges())
    assert once.utility.tolist() == [1, 2]
    assert once.tags == graph.tags


def test_what_is_cut_off_cannot_be_reached():
    blocked = grid(2, symbols=2).block(1, DOWN).block(2, RIGHT)
    with pytest.raises(InvalidArgumentError, match=r"actions that are open lead to node 3; .*what was blocked"):
        blocked.plan(0, to=3)


def test_where_nothing_is_closed_nothing_is_said_to_be_blocked():
    graph = LatentGraph.from_walks("abc", 1, [(0, 0, 1)])
    with pytest.raises(InvalidArgumentError, match="no tried actions lead to node 2; explore on, or choose others"):
        graph.plan(0, to=2)


@pytest.mark.parametrize("pair", [(4, 0), (0, 4), (-1, 0), (0, -1), (0, "up"), (True, 0)])
def test_a_pair_that_is_none_cannot_be_blocked(pair):
    with pytest.raises(InvalidArgumentError, match="must be"):
        grid(2, symbols=2).block(*pair)
