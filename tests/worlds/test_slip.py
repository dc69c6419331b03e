"""Slip against the series it sums: (1 - p) Σ_k p^(k-1) B^k."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from efex.errors import InvalidArgumentError
from efex.worlds import from_picture, make
from efex.worlds.slip import slipped

RIGHT = 3


def series(base, slip):
    """Return the sum of the series, term by term, until the terms are below 1e-18."""
    power, weight, total = base.toarray(), 1 - slip, np.zeros(base.shape)
    while weight > 1e-18:
        total += weight * power
        power, weight = power @ base.toarray(), weight * slip
    return total


def test_a_line_of_three_by_hand():
    p = 0.25
    base = from_picture(np.ones((1, 3), bool)).base[RIGHT]
    by_hand = [[0, 1 - p, p], [0, 0, 1], [0, 0, 1]]
    np.testing.assert_allclose(slipped(base, p).toarray(), by_hand, rtol=1e-15)


def test_teleports_repeat_too_by_hand():
    p = 0.25
    base = from_picture(np.ones((1, 2), bool), teleports=True).base[RIGHT]
    # One repetition leads 0 to 1, and 1 to itself with 0.9 or home, which is 0, with 0.1. With x and y the
    # probabilities of ending at 0 from 0 and from 1: x = p y and y = 0.9 p y + 0.1 ((1 - p) + p x).
    y = 0.1 * (1 - p) / (1 - 0.9 * p - 0.1 * p * p)
    by_hand = [[p * y, 1 - p * y], [y, 1 - y]]
    np.testing.assert_allclose(slipped(base, p).toarray(), by_hand, rtol=1e-14)


@settings(deadline=None)
@given(
    arrays(bool, st.tuples(st.integers(1, 5), st.integers(1, 5))).filter(np.any),
    st.floats(0.001, 0.95),
    st.booleans(),
)
def test_the_solution_is_the_series(picture, slip, teleports):
    for base in from_picture(picture, teleports=teleports).base:
        exact = slipped(base, slip)
        np.testing.assert_allclose(exact.toarray(), series(base, slip), rtol=0, atol=1e-12)
        np.testing.assert_allclose(exact.sum(axis=1), 1, rtol=0, atol=1e-12)
        assert (exact.data > 0).all()


@pytest.mark.parametrize("slip", [1e-12, 0.01, 0.5, 0.999999])
def test_a_long_corridor_keeps_every_power(slip):
    base = from_picture(np.ones((1, 12), bool)).base[RIGHT]
    expected = [(1 - slip) * slip**k for k in range(10)]
    np.testing.assert_allclose(slipped(base, slip).toarray()[0, 1:11], expected, rtol=1e-9)


def test_no_slip_is_the_basic_action_itself():
    base = from_picture(np.ones((3, 3), bool)).base[0]
    assert slipped(base, 0.0) is base
    assert set(make("grid2d").truth.probability.tolist()) == {1.0}


def test_a_ring_never_stops_turning():
    ring = sp.csr_array(np.roll(np.eye(5), 1, axis=1))
    around = (1 - 0.5) * 0.5 ** np.arange(5) / (1 - 0.5**5)
    np.testing.assert_allclose(slipped(ring, 0.5).toarray()[0], np.roll(around, 1), rtol=1e-14)


@pytest.mark.parametrize("slip", [1 - 1e-9, np.nextafter(1, 0)])
def test_almost_endless_slip_tends_to_where_it_settles(slip):
    base = from_picture(np.ones((1, 2), bool), teleports=True).base[RIGHT]
    np.testing.assert_allclose(slipped(base, slip).toarray(), [[1 / 11, 10 / 11]] * 2, rtol=1e-7)


@pytest.mark.parametrize("slip", [-0.1, 1, 1.5, float("nan"), float("inf"), "0.1", None, True])
def test_slip_outside_its_range(slip):
    with pytest.raises(InvalidArgumentError, match="slip must be a number of at least 0 and below 1"):
        make("grid2d", slip=slip)
