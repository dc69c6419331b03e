"""What actions do to where one is, learned from walks in worlds where that is known."""

import numpy as np
import pytest
from robots import robot

import efex
from efex.experience import Experience
from efex.model.moves import AXES, LEFT, RIGHT, displaced, displacements, no_moves, turning


def walk(world, steps, seed=1):
    return efex.explore(world, steps=steps, seed=seed, agent="random", progress=False).experience


def test_actions_that_undo_one_another_share_an_axis():
    moves = displacements(walk(efex.make("grid2d", size=6, unique_fraction=0.3, seed=5), 1_500))
    assert moves.tolist() == np.repeat([AXES[0], -AXES[0], AXES[2], -AXES[2]], 4).reshape(4, 4).tolist()
    assert not turning(moves).any()


def test_where_nothing_is_undone_nothing_moves():
    found = efex.explore(efex.make("chain", length=8), steps=400, agent="random", progress=False)
    assert not displacements(found.experience).any()
    assert not displacements(Experience.from_episodes([(["a"], [])], n_actions=1)).any()
    assert not displacements(Experience.from_episodes([(["a", "a", "a"], [0, 1])], n_actions=2)).any()
    assert not displacements(Experience.from_episodes([(["a", "b", "a", "b"], [0, 1, 0])], n_actions=2)).any()


def test_going_to_and_fro_a_few_times_is_enough_but_not_once():
    other = (["c", "d", "e", "f", "g"] * 3, [2, 3] * 7)  # where nothing comes back
    learned = [
        displacements(Experience.from_episodes([(["a", "b"] * n + ["a"], [0, 1] * n), other], n_actions=4))
        for n in (1, 2, 3, 6, 12)
    ]
    assert [bool(moves.any()) for moves in learned] == [False, False, False, True, True]
    assert all((moves[0] == -moves[1]).all() and not moves[2:].any() for moves in learned)


def test_an_action_that_many_others_undo_is_no_step():
    # Whatever is done after action 0 leads back to where one was: it looks at something, say.
    looks, actions = ["a", "b"] * 30 + ["a"], [0, 1, 0, 2] * 15
    other = (["c", "d", "e", "f", "g"] * 9, [3, 4] * 22)
    assert not displacements(Experience.from_episodes([(looks, actions), other], n_actions=5)).any()
    only = Experience.from_episodes([(looks, [0, 1] * 30), other], n_actions=5)
    assert displacements(only)[:2].all()


@pytest.mark.parametrize(
    "world", [{}, {"backwards": True}, {"fails": 0.1}, {"sees": "cell"}, {"sees": "cell", "backwards": True}]
)
def test_a_robot_that_turns_goes_where_it_is_heading(world):
    """Whether it sees what is ahead or only where it is, so that turning changes nothing it sees."""
    moves = displacements(walk(robot(**world), 1_500))
    assert moves[:2].tolist() == [LEFT.tolist(), RIGHT.tolist()]
    assert turning(moves).tolist() == [True, True] + [False] * (len(moves) - 2)
    east, north, west, south = moves[2]
    assert [west, south] == [-east, -north]
    assert east % 4 == north % 4 == 0
    assert len({east, north, west, south}) == 4
    if world.get("backwards"):
        assert moves[3].tolist() == (-moves[2]).tolist()
    assert displaced(moves, np.array([2, 2, 0]), np.array([4, 5, 7])).tolist() == [east, north, -3]


def test_what_changes_nothing_and_toggles_is_no_turn():
    """A switch that is undone by itself, and two actions that only pass the time."""
    rng = np.random.default_rng(0)
    actions = rng.choice(3, 600, p=[0.6, 0.2, 0.2])
    looks = np.concatenate([[0], np.cumsum(actions == 0) % 2])
    assert not displacements(Experience.from_episodes([(looks.tolist(), actions.tolist())], n_actions=3)).any()


@pytest.mark.parametrize("often", [0.02, 0.1])
def test_waiting_is_no_turn(often):
    """A robot that sees its cell, and has an action that does nothing before those that turn."""
    inner, rng = robot(sees="cell", episode_steps=None), np.random.default_rng(2)
    looks, actions = [inner.reset()[0]], []
    for action in rng.choice(4, 1_500, p=[often, *[(1 - often) / 3] * 3]).tolist():
        actions.append(action)
        looks.append(looks[-1] if action == 0 else inner.step(action - 1)[0])
    moves = displacements(Experience.from_episodes([(looks, actions)], n_actions=4))
    assert turning(moves).tolist() == [False, True, True, False]
    assert not moves[0].any()


def test_a_switch_that_was_only_used_after_an_about_turn_is_no_step():
    actions = [0, 1, 1, 0, 1, 1, 0, 2] * 10
    looks = np.concatenate([[0], np.cumsum(np.array(actions) == 0) % 2]).tolist()
    assert not displacements(Experience.from_episodes([(looks, actions)], n_actions=3)).any()


def test_many_actions_that_change_nothing_cost_little():
    rng = np.random.default_rng(0)
    actions = rng.integers(0, 200, 2_000).tolist()
    looks = rng.integers(0, 3, 2_001).tolist()
    assert not displacements(Experience.from_episodes([(looks, actions)], n_actions=200)).any()
    assert not displacements(Experience.from_episodes([([0] * 2_000 + [1], actions)], n_actions=200)).any()


def test_an_axis_that_goes_around_in_four_steps_is_no_turn():
    """A torus of 4 x 7: its short way around is a ring of four, but nothing leads ahead."""
    nodes = np.arange(28).reshape(4, 7)
    steps = [np.eye(28)[np.roll(nodes, step, axis).ravel()] for axis in (0, 1) for step in (1, -1)]
    looks = np.random.default_rng(1).integers(0, 8, 28).tolist()
    world = efex.worlds.GraphWorld(efex.LatentGraph.from_matrices(looks, steps, starts=(0,)), episode_steps=60)
    moves = displacements(walk(world, 1_500))
    assert moves.all()
    assert (moves == moves[:, :1]).all()
    assert not turning(moves).any()
    assert not turning(no_moves(2)).any()
