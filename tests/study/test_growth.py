import numpy as np
import pytest

from efex.study.paper.growth import exponential, power

SIZES = (20, 40, 80, 160, 320)


def made_up(slope, *, runs=60, noise=0.3, seed=0):
    """Nodes of every size and steps that grow as nodes ** slope, with noise on their logarithms."""
    rng = np.random.default_rng(seed)
    nodes = [rng.integers(size - 4, size + 5, runs).astype(float) for size in SIZES]
    return nodes, [3 * each**slope * np.exp(rng.normal(0, noise, runs)) for each in nodes]


def drawn_again(nodes, steps, *, times=4_000, seed=99):
    """The slopes of a power law through the runs, drawn again and again."""
    rng, medians = np.random.default_rng(seed), []
    for x, y in zip(nodes, steps):
        picks = rng.integers(0, len(x), (times, len(x)))
        medians.append([np.median(np.log(x)[picks], axis=1), np.log(np.median(y[picks], axis=1))])
    x, y = np.array(medians).transpose(1, 0, 2)
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    return (x * y).sum(axis=0) / (x * x).sum(axis=0)


def test_exact_growth_is_found_with_an_interval_of_a_point():
    nodes = [np.full(5, float(size)) for size in SIZES]
    assert power(nodes, [7 * each**1.5 for each in nodes]) == pytest.approx((1.5, 1.5, 1.5, np.log(7)))
    assert exponential(nodes, [7 * np.exp(each / 50) for each in nodes]) == pytest.approx((0.02, 0.02, 0.02, np.log(7)))


def test_the_interval_leaves_out_one_in_forty_on_either_side():
    nodes, steps = made_up(1.4)
    slope, low, high, _ = power(nodes, steps)
    slopes = drawn_again(nodes, steps)
    assert low < slope < high
    assert 0.018 < (slopes < low).mean() < 0.032
    assert 0.018 < (slopes > high).mean() < 0.032


def test_wider_spread_and_fewer_runs_make_wider_intervals():
    def width(**how):
        found = power(*made_up(1.4, **how))
        return found.high - found.low

    assert width(noise=0.6) == pytest.approx(2 * width(noise=0.3), rel=0.25)
    assert width(runs=15) == pytest.approx(2 * width(runs=60), rel=0.35)


def test_the_interval_is_drawn_alike_every_time_and_as_it_was_when_reports_were_printed():
    found = power(*made_up(1.4))
    assert found == power(*made_up(1.4))
    assert found == pytest.approx((1.4131315126, 1.3696697236, 1.4751639776, 1.0255218919))


def test_runs_that_were_cut_off_raise_the_median_until_there_is_none():
    nodes, steps = made_up(1.0, noise=0.0)
    for cut in steps:
        cut[:20] = np.inf
    assert power(nodes, steps).slope == pytest.approx(1.0, abs=0.05)
    for cut in steps[3:]:
        cut[:] = np.inf
    assert power(nodes, steps).slope == pytest.approx(1.0, abs=0.1)
    steps[2][:] = np.inf
    assert power(nodes, steps) is None, "two sizes say nothing of growth"
