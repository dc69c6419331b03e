"""What is off about all observations is said early."""

import warnings

import numpy as np
import pytest

import efex
from efex.adapters import from_functions
from efex.errors import InvalidArgumentError


def explored(env, steps=200, **options):
    return efex.explore(env, steps=steps, progress=False, **{"clones": 5} | options)


def drifting(round_to=None):
    """A walk along a line whose every observation has a fraction of its own."""
    place = [0.0]

    def step(way):
        place[0] += 0.37 * way
        return place[0] if round_to is None else round(place[0] / round_to) * round_to

    return from_functions(None, step, [1])


def test_observations_that_never_come_again_are_warned_of():
    with pytest.warns(UserWarning, match="100 of the first 100 observations are different.*observe="):
        explored(drifting(), steps=120, clones=1)


@pytest.mark.parametrize("calm", [{"observe": int}, {"round_to": 100.0}])
def test_fractions_that_are_rounded_are_not(calm, recwarn):
    explored(drifting(calm.pop("round_to", None)), steps=120, clones=1, **calm)
    assert not [warning for warning in recwarn if "fractions" in str(warning.message)]


def test_an_observe_without_a_return_is_warned_of_once():
    with pytest.warns(UserWarning, match="observe") as warned:
        explored(efex.make("chain", length=5), steps=100, observe=lambda seen: None, clones="auto")
    (warning,) = warned
    assert str(warning.message) == (
        "observe returned None for each of the first 20 observations, so that all places are one: "
        "is a return missing in it?"
    )


def test_none_among_others_is_a_symbol_like_any_other():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = explored(efex.make("chain", length=5), observe=lambda seen: seen or None, clones="auto")
        explored(efex.make("chain", length=5), steps=10, observe=lambda seen: None, clones="auto")
    assert None in run.graph.observations


@pytest.mark.parametrize("made", [float("nan"), np.array([1.0, np.nan]), {"heat": [float("nan")]}])
def test_nan_is_refused_from_observe_as_from_the_environment(made):
    with pytest.raises(InvalidArgumentError, match=r"must not hold NaN, which observe returned: .*; let it return"):
        explored(efex.make("chain", length=5), observe=lambda seen: made)
