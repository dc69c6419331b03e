"""Trips on recovered maps arrive, on nearly the shortest way, also where a step of it is closed."""

import numpy as np
import pytest

import efex
from benchmark_modules import benchmark

navigate = benchmark("navigate")

SEED = 41
"""The published figures are of seeds 3000 to 3009."""


def arrived(trips):
    return np.mean([trip.succeeded for trip in trips])


def ratio(trips):
    """Return the steps taken for every step of the shortest way, mean over the trips that arrived."""
    return np.mean([trip.steps / trip.shortest for trip in trips if trip.succeeded])


def test_trips_are_counted_as_they_went():
    world = efex.make("grid2d", size=4, unique_fraction=0.5, seed=3)
    run = efex.explore(world, steps=600, progress=False)
    plain, closed = navigate.trips(run, n=12, seed=0)
    assert len(plain) == 12
    assert 0 < len(closed) <= 12
    assert arrived(plain) == 1
    assert arrived(closed) >= 0.9
    assert all(trip.steps >= trip.shortest >= 1 for trip in plain)
    assert ratio(plain) <= 1.3
    rate, mean, of_sums = navigate.figures(plain)
    assert (rate, mean) == ("1.000 of 12", f"{ratio(plain):.3f}")
    assert 1 <= float(of_sums) <= 1.3


def test_a_trip_to_another_place_than_the_target_stands_for_does_not_succeed():
    truth = efex.make("grid2d", size=4, seed=3).truth
    assert navigate.travel(truth, truth, 0, 15, 15, seed=0).succeeded
    missed = navigate.travel(truth, truth, 0, 14, 15, seed=0)
    assert not missed.succeeded
    assert navigate.figures([missed]) == ["0 of 1", "-", "-"]


def test_every_aliased_world_is_measured():
    assert set(navigate.WORLDS) == set(efex.worlds.world_names()) - {"chain"}


@pytest.mark.verify
@pytest.mark.parametrize("name", navigate.WORLDS)
def test_a_navigator_arrives_on_nearly_the_shortest_way_in_every_aliased_world(name):
    world = efex.make(name, unique_fraction=0.3, seed=SEED)
    run = efex.explore(world, steps=10_000, seed=SEED, progress=False)
    plain, closed = navigate.trips(run, n=60, seed=SEED)
    print(name, *navigate.figures(plain), *navigate.figures(closed))
    assert arrived(plain) >= 0.95
    assert ratio(plain) <= 1.3
    assert arrived(closed) >= 0.95
