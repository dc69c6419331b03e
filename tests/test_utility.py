"""The closed form against its definitions: mutual information by Monte Carlo, and the expected KL divergence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln, psi

from efex.utility import information_gain

concentrations = st.lists(st.floats(1e-4, 50.0), min_size=2, max_size=6)


def dirichlet_divergence(after, before):
    """KL(Dir(after) || Dir(before))."""
    return (
        gammaln(after.sum())
        - gammaln(before.sum())
        - (gammaln(after) - gammaln(before)).sum()
        + ((after - before) * (psi(after) - psi(after.sum()))).sum()
    )


@given(concentrations)
def test_it_is_the_expected_divergence_between_the_beliefs(b):
    b = np.array(b)
    expected = sum(b[j] / b.sum() * dirichlet_divergence(b + np.eye(len(b))[j], b) for j in range(len(b)) if b[j] > 0)
    np.testing.assert_allclose(information_gain(b), expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("b", [[0.5, 0.5], [2e-3] * 40, [3.0 + 2e-3, 2e-3, 2e-3, 1.0 + 2e-3], [0.1, 5.0, 1.0]])
def test_it_is_the_mutual_information_by_monte_carlo(b):
    rng = np.random.default_rng(0)
    b = np.array(b)
    rows = rng.dirichlet(b, size=200_000)
    with np.errstate(divide="ignore", invalid="ignore"):
        conditional = -np.where(rows > 0, rows * np.log(rows), 0.0).sum(axis=1)
    mean = b / b.sum()
    samples = -(mean * np.log(mean)).sum() - conditional
    error = samples.std() / np.sqrt(len(samples))
    assert abs(information_gain(b) - samples.mean()) < 5 * error


def test_it_is_right_at_tiny_counts():
    # As b goes to zero a row is all but surely deterministic: one step tells everything, log n nats.
    for n in (2, 10, 900):
        np.testing.assert_allclose(information_gain(np.full(n, 1e-12)), np.log(n), rtol=1e-6)


@given(concentrations)
def test_it_is_not_negative_and_at_most_log_n(b):
    gain = information_gain(np.array(b))
    assert -1e-12 <= gain <= np.log(len(b)) + 1e-9


def test_a_known_row_holds_nothing():
    gains = [information_gain(np.array([1e-3 + n, 1e-3, 1e-3])) for n in (0, 1, 10, 1000)]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] < 1e-4
