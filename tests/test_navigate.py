"""The Navigator: it finds out where it is, arrives, and copes with a map or a world that is not as it was."""

from dataclasses import replace

import numpy as np
import pytest

import efex
from efex.errors import EfexError, InvalidArgumentError
from efex.graph import LatentGraph
from efex.graph.reduction import redirect
from efex.graph.routes import routes
from efex.worlds import GraphWorld
from graph.graph_examples import grid


def world_at(truth, start):
    return GraphWorld(replace(truth, starts=(start,)), episode_steps=None)


def corridor(digits):
    """Return cells in a row that show these digits; two actions, and the ends bump."""
    at = np.arange(len(digits))
    moves = [np.eye(len(digits))[np.clip(at + step, 0, len(digits) - 1)] for step in (-1, 1)]
    return LatentGraph.from_matrices([int(digit) for digit in digits], moves, starts=[0])


def test_it_begins_anywhere_that_looks_like_it():
    navigator = efex.Navigator(corridor("0101"))
    assert navigator.belief.tolist() == [0.25] * 4
    navigator.observe(0)
    assert navigator.belief.tolist() == [0.5, 0, 0.5, 0]
    navigator.observe(0, after=0)
    assert navigator.belief.argmax() == 0
    assert navigator.belief[0] > 0.95
    navigator.observe(1)
    assert navigator.belief.tolist() == [0, 0.5, 0, 0.5]


def test_it_goes_nowhere_before_something_is_seen():
    navigator = efex.Navigator(corridor("0101"))
    with pytest.raises(EfexError, match=r"go_to must follow observe: .*navigator\.observe\(observation\)"):
        navigator.go_to(3)
    with pytest.raises(EfexError, match="go_to must follow observe"):
        navigator.go_to([0, 1, 2, 3])  # which is everywhere
    navigator.observe("never seen")
    assert navigator.go_to(3) in (0, 1)


@pytest.mark.parametrize("seed", range(3))
def test_it_arrives_on_nearly_the_shortest_way_from_anywhere(seed):
    truth = grid(8, symbols=20, seed=seed)
    rng = np.random.default_rng(seed)
    ratios = []
    for _ in range(15):
        start, goal = rng.choice(truth.n_nodes, 2, replace=False).tolist()
        world = world_at(truth, start)
        steps = efex.Navigator(truth).travel(world, goal, limit=200)
        assert steps is not None
        assert world.node == goal
        ratios.append(steps / routes(truth, {goal}).steps[start])
    assert np.mean(ratios) < 1.3


def test_it_uses_a_map_that_was_counted():
    run = efex.explore(efex.make("grid2d", size=4, unique_fraction=0.5, seed=3), steps=600, progress=False)
    stands_for = {int(node): int(true) for node, true in zip(run.nodes, run.true_nodes)}
    for start in range(0, 16, 3):
        world = world_at(run.truth, start)
        target = (7 * start + 1) % run.graph.n_nodes
        assert efex.Navigator(run.graph).travel(world, target, limit=150) is not None
        assert world.node == stands_for[target]


def test_a_long_corridor_is_told_apart_at_its_end():
    # From the middle both ways look alike for ten steps; only the end tells.
    truth = corridor("0" * 23 + "1")
    world = world_at(truth, 12)
    assert efex.Navigator(truth).travel(world, 2, limit=200) is not None
    assert world.node == 2


def test_an_arrival_is_not_claimed_before_it_is_known():
    truth = corridor("012013")
    world = world_at(truth, 3)
    navigator = efex.Navigator(truth)
    navigator.observe(world.reset()[0])
    # Cells 0 and 3 look alike: it may be there already, but it does not know.
    assert navigator.go_to(3) is not None
    assert navigator.travel(world, 3, limit=20) > 0
    assert world.node == 3


def test_places_that_nothing_tells_apart_are_one():
    ring = LatentGraph.from_matrices("abab", [np.eye(4)[[1, 2, 3, 0]]])
    navigator = efex.Navigator(ring)
    navigator.observe("a")
    assert navigator.go_to(2) is None
    assert navigator.go_to(1) == 0


def test_goals_by_observation_and_tag():
    truth = grid(5, symbols=9, seed=1).tag(24, room="attic")
    world = world_at(truth, 0)
    assert efex.Navigator(truth).travel(world, tag=("room", "attic"), limit=100) is not None
    assert world.node == 24
    assert efex.Navigator(truth).travel(world, observation=truth.observations[12], limit=100) is not None
    assert truth.observations[world.node] == truth.observations[12]
    navigator = efex.Navigator(truth)
    for bad in ({}, {"node": 25}, {"observation": "nowhere"}, {"tag": "cellar"}, {"node": 1, "tag": "room"}):
        with pytest.raises(InvalidArgumentError):
            navigator.go_to(**bad)


def test_a_goal_is_called_what_the_caller_calls_it():
    truth = grid(4, symbols=9, seed=1)
    with pytest.raises(InvalidArgumentError, match="exactly one of node, observation and tag"):
        efex.Navigator(truth).travel(world_at(truth, 0), limit=100)
    with pytest.raises(InvalidArgumentError, match=r"^node must be one or more of the nodes 0 to 15, not 99"):
        efex.Navigator(truth).travel(world_at(truth, 0), 99)
    with pytest.raises(InvalidArgumentError, match=r"^node must be a whole number"):
        efex.Navigator(truth).go_to(1.5)


def test_a_goal_that_nothing_leads_to_is_refused():
    graph = LatentGraph.from_matrices("abc", [np.eye(3)[[1, 0, 0]]])
    for known, says in ((graph, "explore on, or go elsewhere"), (graph.block(2, 0), "take back what was blocked")):
        navigator = efex.Navigator(known)
        navigator.observe("a")
        with pytest.raises(InvalidArgumentError, match=says):
            navigator.go_to(2)


def test_a_surprise_is_survived():
    truth = grid(6, symbols=12, seed=2)
    world = world_at(truth, 0)
    navigator = efex.Navigator(truth)
    navigator.observe(world.reset()[0])
    for _ in range(8):
        action = navigator.go_to(35)
        navigator.observe(world.step(action)[0], after=action)
    world._node = 3  # carried off
    for _ in range(60):
        if (action := navigator.go_to(35)) is None:
            break
        navigator.observe(world.step(action)[0], after=action)
    assert world.node == 35


def test_it_is_lost_until_something_known_is_seen():
    navigator = efex.Navigator(corridor("0101"))
    navigator.observe(0)
    navigator.observe("never seen", after=1)
    assert navigator.is_lost
    assert navigator.belief.tolist() == [0.25] * 4
    assert navigator.go_to(3) in (0, 1)
    navigator.observe(1, after=1)
    assert not navigator.is_lost
    assert navigator.belief.tolist() == [0, 0.5, 0, 0.5]


@pytest.mark.parametrize("seed", range(5))
def test_a_closed_door_is_noticed_and_walked_around(seed):
    known = grid(6, symbols=12, seed=seed)
    world = world_at(redirect(known, 2, 3, 2), 0)
    navigator = efex.Navigator(known)
    steps = navigator.travel(world, 5, limit=100)
    assert steps is not None
    assert world.node == 5


def test_the_door_found_closed_is_blocked():
    known = corridor("012345")
    known = redirect(known, 0, 0, 5)  # the long way round: from one end to the other
    world = world_at(redirect(known, 2, 1, 2), 2)
    navigator = efex.Navigator(known)
    assert navigator.travel(world, 4, limit=30) is not None
    assert world.node == 4
    assert navigator.blocked == {(2, 1)}


def test_what_is_blocked_is_tried_again_when_nothing_else_is_left():
    truth = corridor("01234")
    navigator = efex.Navigator(truth)
    navigator.block(2, 1)
    world = world_at(truth, 0)
    assert navigator.travel(world, 4, limit=20) == 4
    assert not navigator.blocked


def test_a_way_that_never_works_is_given_up_although_the_map_calls_it_chance():
    # On the map, action 0 leads from node 1 to node 2 half the time. Here it never does, and there is a way around.
    on = np.array([[0, 1, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 1, 0], [0.5, 0, 0.5, 0]])
    around = np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]])
    known = LatentGraph.from_matrices(range(4), [on, around], starts=[0])
    world = world_at(redirect(known, 1, 0, 1), 0)
    navigator = efex.Navigator(known)
    assert navigator.travel(world, 2, limit=60) is not None
    assert navigator.blocked == {(1, 0)}


def test_a_mask_is_heeded():
    truth = grid(5, symbols=25, seed=0)
    navigator = efex.Navigator(truth)
    navigator.observe(truth.observations[0])
    for allowed in range(4):
        assert navigator.go_to(24, mask=np.arange(4) == allowed) == allowed


def test_the_same_seed_gives_the_same_way():
    truth = grid(6, symbols=5, seed=4)
    ways = []
    for _ in range(2):
        world, way = world_at(truth, 8), []
        navigator = efex.Navigator(truth, seed=3)
        navigator.observe(world.reset(seed=0)[0])
        while (action := navigator.go_to(30)) is not None:
            way.append(action)
            navigator.observe(world.step(action)[0], after=action)
        ways.append(way)
    assert ways[0] == ways[1]


@pytest.mark.parametrize("names", [("left", "right", "press"), ("press", "left", "right")])
def test_actions_of_the_same_names_are_matched_by_them(names):
    """A map that was learned from a log has its actions in another order than the environment."""

    def machine(names):
        doors = {"left": (0, 0, 1, 2), "right": (1, 2, 3, 3), "press": (0, 1, 0, 3)}
        rooms = [0]

        def reset():
            rooms[0] = 0
            return "start"

        def step(action):
            rooms[0] = doors[action][rooms[0]]
            return ("start", "hall", "hall", "goal")[rooms[0]]

        return efex.adapters.from_functions(reset, step, list(names))

    found = efex.explore(machine(("left", "right", "press")), steps=400, episode_steps=20, seed=0, progress=False)
    assert found.graph.action_names == ("left", "right", "press")
    assert efex.Navigator(found.graph).travel(machine(names), observation="goal") == 3


@pytest.mark.parametrize("seed", [1, 2])
def test_where_actions_slip_arriving_is_not_put_off(seed):
    truth = efex.make("grid2d", size=6, unique_fraction=0.3, slip=0.1, seed=seed).truth
    rng, walked, shortest = np.random.default_rng(0), 0.0, 0.0
    for trip in range(60):
        start, goal = rng.choice(truth.n_nodes, 2, replace=False).tolist()
        walked += efex.Navigator(truth).travel(world_at(truth, start), goal, limit=300, seed=trip)
        shortest += truth.plan(start, to=goal).expected_steps
    assert walked < 1.8 * shortest
