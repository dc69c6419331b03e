"""Counted transitions against a count by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from efex.experience import Experience
from efex.kernels.transitions import log_rising
from efex.model.transitions import STICKINESS, count_transitions, places_of

WEIGHT = 0.3


@st.composite
def paths(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    looks, clones, n_actions = (int(rng.integers(1, 5)) for _ in range(3))
    lengths = rng.integers(0, 40, int(rng.integers(1, 6)))
    episodes = [(rng.integers(0, looks, n + 1).tolist(), rng.integers(0, n_actions, n)) for n in lengths]
    experience = Experience.from_episodes(episodes, n_actions=n_actions)
    return experience.observations * np.int64(clones) + rng.integers(0, clones, len(experience)), experience


def steps_of(places, experience):
    """Every step as (source, action, target); an episode begins by a step from the place after the last one."""
    home = len(places.names)
    for begin, end in zip(experience.offsets[:-1], experience.offsets[1:]):
        at = places.at[begin:end].tolist()
        yield (home, 0, at[0])
        yield from zip(at, experience.actions[begin : end - 1].tolist(), at[1:])


@given(paths())
@settings(max_examples=60)
def test_every_step_is_counted_once_and_in_order(case):
    places = places_of(*case)
    t = count_transitions(places, case[1], weight=WEIGHT)
    entries = list(zip(t.source.tolist(), t.action.tolist(), t.target.tolist()))
    assert dict(zip(entries, t.visits.tolist())) == Counter(steps_of(places, case[1]))
    assert entries == sorted(entries)
    row = t.source * t.n_actions + t.action
    for r in range(len(t.row_start) - 1):
        assert np.flatnonzero(row == r).tolist() == list(range(t.row_start[r], t.row_start[r + 1]))
    for place in range(len(places.names) + 1):
        into = t.by_target[t.into[place] : t.into[place + 1]]
        assert into.tolist() == np.flatnonzero(t.target == place).tolist()


@given(paths())
@settings(max_examples=60)
def test_what_such_a_pair_led_to_elsewhere_is_expected(case):
    places = places_of(*case)
    t = count_transitions(places, case[1], weight=WEIGHT)
    pair, seen = t.observation[t.source] * t.n_actions + t.action, t.observation[t.target]
    stays = t.source == t.target
    for entry, base in enumerate(t.base):
        same = pair == pair[entry]
        sticky = (stays[same].sum() + STICKINESS) / (same.sum() + 1)
        alike = (same & ~stays & (seen == seen[entry])).sum() + (seen == seen[entry]).mean()
        chance = alike / ((same & ~stays).sum() + 1) / (places.observation == seen[entry]).sum()
        assert base == pytest.approx(WEIGHT * (1 - sticky) * chance)
        assert t.sticky[t.observation[t.source[entry]], t.action[entry]] == pytest.approx(WEIGHT * sticky)


@given(st.floats(1e-9, 1e3), st.integers(0, 100))
def test_a_rising_product_is_a_quotient_of_gamma_functions(x, n):
    assert log_rising(x, float(n)) == pytest.approx(gammaln(x + n) - gammaln(x), abs=1e-9, rel=1e-9)
