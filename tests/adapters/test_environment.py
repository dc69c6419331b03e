"""An environment that does not do as Gymnasium says is told what it must do."""

import gymnasium
import numpy as np
import pytest

import efex
from efex.errors import InvalidArgumentError


class Ring(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(4)
    mask = None

    def reset(self, *, seed=None, options=None):
        self.cell = 0
        return 0, self._info()

    def step(self, action):
        self.cell = (self.cell + (-1, 1)[action]) % 4
        return self.cell, 0.0, False, False, self._info()

    def _info(self):
        return {} if self.mask is None else {"action_mask": self.mask}


class OldRing(Ring):
    def reset(self):
        return super().reset()


class SeededRing(Ring):
    def reset(self, seed=None):
        return super().reset(seed=seed)


class BrokenRing(Ring):
    def reset(self, *, seed=None, options=None):
        return None + seed


def explored(env):
    return efex.explore(env, steps=20, progress=False)


@pytest.mark.parametrize(
    ("env", "says"),
    [
        (
            OldRing(),
            r"reset\(\) of OldRing must accept the keywords seed and options, as Gymnasium's does, and takes nothing;",
        ),
        (gymnasium.wrappers.TimeLimit(OldRing(), 5), r"reset\(\) of OldRing must accept the keywords seed and options"),
        (gymnasium.wrappers.TimeLimit(SeededRing(), 5), r"reset\(\) of SeededRing .*, and takes seed;"),
    ],
)
def test_a_reset_of_old_is_told_what_it_must_accept(env, says):
    with pytest.raises(InvalidArgumentError, match=says):
        explored(env)


def test_a_reset_that_takes_a_seed_alone_will_do():
    assert explored(SeededRing()).experience.n_steps == 20


@pytest.mark.parametrize("env", [BrokenRing(), gymnasium.wrappers.TimeLimit(BrokenRing(), 5)])
def test_an_error_of_the_environment_itself_is_left_as_it_is(env):
    with pytest.raises(TypeError, match="NoneType"):
        explored(env)


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        ([True], r'info\["action_mask"\] must be True or False for each of 2 actions; got \[True\]'),
        (np.ones((2, 1)), r'info\["action_mask"\] must be True or False for each of 2 actions'),
        ([0.5, 1], r'info\["action_mask"\] must be True or False for each of 2 actions'),
        ([0, 0], r'info\["action_mask"\] must allow at least one of 2 actions; got \[0, 0\]'),
    ],
)
def test_a_mask_is_told_what_is_wrong_with_it(mask, says):
    env = Ring()
    env.mask = mask
    with pytest.raises(InvalidArgumentError, match=says):
        explored(env)
