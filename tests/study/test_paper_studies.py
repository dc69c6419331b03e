"""How many seeds the studies of the paper play of everything: what their figures say of runs rests on it."""

from collections import Counter
from dataclasses import replace

import pytest

from efex.study.catalogue import STUDIES
from efex.study.paper import SEEDS
from efex.study.study import load_study

UNIQUE, SLIPS = (0.1, 0.3, 1.0), (0.0, 0.01, 0.1)
STRAIGHT = {(0.1, 0.0): 40, (0.3, 0.0): 10, (1.0, 0.0): 10}
EVERY = {(unique, slip): 5 for unique in UNIQUE for slip in SLIPS}
FIVE_WORLDS = ("grid3d", "grid2d", "icg", "dense-maze", "sparse-maze")


def runs_of(name, *said):
    """How many runs there are of every agent in every world, at every value of the options said."""
    return Counter((case.world, case.agent, *map(case.setting, said)) for case in load_study(name).cases)


@pytest.mark.parametrize("name", STUDIES)
def test_whatever_a_study_plays_it_plays_with_the_first_seeds_in_order(name):
    seeds = {}
    for case in load_study(name).cases:
        seeds.setdefault(replace(case, seed=0), []).append(case.seed)
    for case, played in seeds.items():
        assert played == [*range(SEEDS, SEEDS + len(played))], case.id


def test_the_chain_is_walked_100_times_and_20_times_by_the_deep_baselines():
    often = {"efex": 100, "efex-paper": 100, "max": 100, "random": 100, "tour": 100}
    runs = often | {"bonus-dqn": 20, "bootstrapped-dqn": 20}
    assert runs_of("chain", "trap") == {
        ("chain", agent, trap): times for agent, times in runs.items() for trap in (False, True)
    }


def test_the_topologies_are_explored_most_often_where_they_are_hardest():
    cells = {
        "efex": EVERY | STRAIGHT,
        "random": EVERY | STRAIGHT,
        "efex-paper": dict.fromkeys(STRAIGHT, 10),
        "tour": STRAIGHT,
    }
    assert runs_of("topologies", "unique_fraction", "slip") == {
        (world, agent, *cell): times
        for agent, of_agent in cells.items()
        for cell, times in of_agent.items()
        for world in FIVE_WORLDS
    }


def test_with_variational_bayes_every_cell_is_explored_five_times():
    assert runs_of("topologies-vb", "unique_fraction", "slip", "method") == {
        (world, agent, *cell, "em+vb"): 5 for agent in ("efex", "random") for cell in EVERY for world in FIVE_WORLDS
    }


def test_every_size_of_the_teleport_maze_is_explored_twenty_times():
    assert runs_of("scaling", "size") == {
        ("teleport-maze", agent, size): 20 for agent in ("efex", "random", "tour") for size in (11, 13, 15, 17, 21, 27)
    }


@pytest.mark.parametrize(("name", "times"), [("sensitivity", 3), ("ablation", 5), ("visual", 1)])
def test_settings_that_are_compared_are_played_equally_often(name, times):
    assert {*Counter(replace(case, seed=0) for case in load_study(name).cases).values()} == {times}
