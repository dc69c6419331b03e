"""Names of actions that do not fit are not passed over in silence."""

from enum import StrEnum

import gymnasium
import numpy as np
import pytest

import efex


def named(names):
    env = efex.make("grid2d", size=3)
    env.action_names = names
    return env


def explored(env):
    return efex.explore(env, steps=20, clones=1, progress=False)


def test_an_environment_of_ones_own_may_name_its_actions():
    names = ["north", "south", "west", "east"]
    assert explored(gymnasium.wrappers.TimeLimit(named(names), 9)).graph.action_names == tuple(names)
    enumerated = explored(named(list(StrEnum("Way", names)))).graph.action_names
    assert (enumerated, {type(name) for name in enumerated}) == (tuple(names), {str})


@pytest.mark.parametrize(
    ("names", "came"),
    [
        (["north"], "1: ['north']"),
        ("nswe", "the str 'nswe'"),
        (["go", "stay", "go", "turn"], "'go' more than once"),
        (["north", "south", "west", 3], "['north', 'south', 'west', 3]"),
        ({0: "north"}, "the dict {0: 'north'}"),
        (np.array([["north", "south"], ["west", "east"]]), "the ndarray array("),
    ],
)
def test_names_that_do_not_fit_are_warned_of_once(names, came):
    with pytest.warns(UserWarning, match="action_names") as warned:
        run = explored(named(names))
    (warning,) = warned
    said = "the environment's action_names must be a list of 4 different texts, one for each action, not "
    assert str(warning.message).startswith(said + came)
    assert str(warning.message).endswith("; actions are called by their numbers")
    assert len(str(warning.message).splitlines()) == 1
    assert run.graph.action_names is None
