import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from efex.worlds import make
from efex.worlds.aliasing import alias


@settings(deadline=None)
@given(st.integers(1, 200), st.floats(0.001, 1), st.integers(0, 2**32))
def test_every_observation_is_used(n_nodes, unique_fraction, seed):
    shown = alias(n_nodes, unique_fraction, rng=np.random.default_rng(seed))
    assert len(shown) == n_nodes
    assert sorted(set(shown.tolist())) == list(range(max(1, round(unique_fraction * n_nodes))))


def test_the_rest_is_uniform_and_so_is_the_place_of_the_guaranteed():
    rng = np.random.default_rng(0)
    shown = np.stack([alias(6, 0.5, rng=rng) for _ in range(6000)])
    # Every node shows each of the three observations a third of the time, by symmetry.
    shares = np.stack([(shown == code).mean(axis=0) for code in range(3)])
    np.testing.assert_allclose(shares, 1 / 3, rtol=0, atol=0.03)
    # An observation is shown by one node for certain and by each of the three others with probability 1/3.
    times = np.bincount((shown == 0).sum(axis=1), minlength=5)[1:] / len(shown)
    np.testing.assert_allclose(times, np.array([8, 12, 6, 1]) / 27, rtol=0, atol=0.03)


def test_the_unique_fraction_counts_observations():
    assert make("grid2d", unique_fraction=0.1).observation_space.n == 44
    assert make("grid2d", unique_fraction=1e-9).observation_space.n == 1
    assert sorted(make("grid2d").truth.observations) == list(range(441))


def test_aliasing_leaves_the_rest_alone():
    one, other = (make("dense-maze", seed=4, unique_fraction=fraction).truth for fraction in (0.1, 0.5))
    assert np.array_equal(one.target, other.target)
    assert one.observations != other.observations
