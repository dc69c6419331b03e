"""Being thrown: what counts as that, that it is found in a maze that does so, and that it spoils no coordinates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import efex
from efex.experience import Experience
from efex.kernels.throwing import MANY
from efex.model import reckoning
from efex.model.moves import AXES, displacements
from efex.model.reckoning import reckoned
from efex.model.throwing import thrown_entries, thrown_steps
from efex.model.transitions import count_transitions, places_of

HOME = 0


def rows(*outcomes):
    """Rows as arrays: where they begin, and where they led how often."""
    start = np.concatenate([[0], np.cumsum([len(row) for row in outcomes])])
    target, times = np.array([pair for row in outcomes for pair in row]).T
    return start, target, times.astype(np.float64)


def throwing(n):
    """Rows of n places that stay, but for one time in ten, which leads home."""
    return [[(HOME, 1), (place, 9)] for place in range(1, n + 1)]


def test_a_place_to_which_many_rows_lead_rarely_throws():
    thrown = thrown_entries(*rows(*throwing(MANY)), n=MANY + 1)
    assert thrown.tolist() == [True, False] * MANY
    assert thrown_entries(*rows(*throwing(MANY - 1)), n=MANY + 1) is None


def test_what_always_leads_there_was_not_thrown():
    always = [[(HOME, 9)], [(HOME, 6), (1, 4)]]
    thrown = thrown_entries(*rows(*throwing(MANY), *always), n=MANY + 1)
    assert thrown[2 * MANY :].tolist() == [False, False, False]


def test_where_as_much_leads_elsewhere_nothing_throws():
    slips = [[(1, 1), (place, 9)] for place in range(2, MANY + 2)]
    assert thrown_entries(*rows(*throwing(MANY), *slips), n=MANY + 2) is None
    assert thrown_entries(*rows(*throwing(MANY), *slips[1:]), n=MANY + 2) is not None


@given(st.integers(1, 6), st.integers(0, 100))
def test_where_chance_rules_nothing_throws(n, seed):
    times = np.random.default_rng(seed).integers(1, 9, (4 * n, n))
    if n > 2:
        assert thrown_entries(*rows(*(list(enumerate(row)) for row in times)), n=n) is None


@pytest.fixture(scope="module")
def maze():
    """A random walk in a maze that throws home from walls, the nodes it was at, and the steps that threw."""
    world = efex.make("teleport-maze", size=11, unique_fraction=0.1, seed=3)
    run = efex.explore(world, steps=6_000, seed=3, agent="random", progress=False)
    nodes, actions = np.array(run.true_nodes), run.experience.actions
    # Home is where a step goes that is likelier to stay.
    stays = np.array([world.truth.transition(action).diagonal() for action in range(4)])
    blocked = np.append(stays[actions[:-1], nodes[:-1]] > 0.5, False)
    return run.experience, nodes, np.flatnonzero(blocked & np.append(nodes[1:] != nodes[:-1], False))


def test_the_steps_that_threw_are_found(maze):
    experience, nodes, threw = maze
    found = np.flatnonzero(thrown_steps(nodes, experience))
    assert len(threw) > 50
    assert set(found) <= set(threw)
    assert len(found) > 0.95 * len(threw), "all but of rows that mostly threw so far"


def test_where_nothing_throws_none_is_found():
    for name, slip in (("sparse-maze", 0.0), ("sparse-maze", 0.1), ("grid2d", 0.1)):
        world = efex.make(name, unique_fraction=0.1, slip=slip, seed=3)
        run = efex.explore(world, steps=3_000, seed=3, agent="random", progress=False)
        assert thrown_steps(np.array(run.true_nodes), run.experience) is None
        assert thrown_steps(run.experience.observations.astype(np.int64), run.experience) is None, "one place a sight"


def test_being_thrown_says_nothing_of_where_places_are(maze, monkeypatch):
    experience, nodes, _ = maze
    where = reckoned(nodes, experience)
    assert where.is_trusted
    counted = count_transitions(places_of(nodes, experience), experience, weight=0.1, moves=where.moves)
    steps = counted.source < len(counted.observation) - 1
    assert not counted.by[steps][where.thrown].any()
    monkeypatch.setattr(reckoning, "thrown_entries", lambda *_, n: None)
    assert reckoned(nodes, experience).astray > 3 * where.astray


def test_an_axis_is_known_though_a_wall_on_it_throws():
    # To and fro along one axis; at one end a step that is thrown home, where the way back leads elsewhere.
    other = (["c", "d", "e", "f", "g"] * 9, [2, 3] * 22)
    looks, actions = ["a", "b"] * 12 + ["h", "i"] * 12, ([0, 1] * 11 + [0, 2]) + ([1, 0] * 11 + [1])
    walk = [(looks, actions), (["b", "h", "i"] * 12, ([0, 1, 2] * 12)[:-1]), other]
    experience = Experience.from_episodes(walk, n_actions=4)
    thrown = np.zeros(len(experience), bool)
    begin = experience.offsets[1]
    thrown[begin : experience.offsets[2] : 3] = True
    assert not displacements(experience)[:2].any()
    assert displacements(experience, thrown=thrown)[0, 0] == AXES[0]
