"""Being thrown: what counts as that, that it is found in a maze that does so, and that it spoils no coordinates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import efex
from efex.experience import Experience
from efex.kernels.reckoning import positions
from efex.kernels.redecoding import chance_of_step
from efex.kernels.throwing import MANY, NOWHERE
from efex.model import reckoning
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.moves import AXES, displacements
from efex.model.naming import numbered
from efex.model.reckoning import reckoned
from efex.model.redecoding import Tally, _ground
from efex.model.throwing import thrown_entries, unthrown
from efex.model.transitions import count_transitions, places_of
from efex.model.viterbi_training import from_path

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


@given(st.integers(12, 60), st.integers(0, 100))
def test_where_chance_rules_nothing_throws(n, seed):
    """Rows lead to one place mostly and to another one rarely, any of them."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(n, 2, replace=False) for _ in range(4 * n)]
    assert thrown_entries(*rows(*([(mostly, 5), (rarely, 1)] for mostly, rarely in pairs)), n=n) is None


def test_where_nothing_was_seen_nothing_throws():
    none = np.zeros(0, np.int64)
    assert thrown_entries(np.zeros(1, np.int64), none, none, n=0) is None
    for episodes in ([], [(["a"], [])]):
        experience = Experience.from_episodes(episodes, n_actions=2)
        assert unthrown(np.zeros(len(experience), np.int64), experience).tolist() == experience.actions.tolist()
        assert reckoned(np.zeros(len(experience), np.int64), experience).thrown is None


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
    found = np.flatnonzero(unthrown(nodes, experience) != experience.actions)
    assert len(threw) > 50
    assert set(found) <= set(threw)
    assert len(found) > 0.95 * len(threw), "all but of rows that mostly threw so far"


def test_where_nothing_throws_none_is_found():
    for name, slip in (("sparse-maze", 0.0), ("sparse-maze", 0.1), ("grid2d", 0.1)):
        world = efex.make(name, unique_fraction=0.1, slip=slip, seed=3)
        run = efex.explore(world, steps=3_000, seed=3, agent="random", progress=False)
        for path in (np.array(run.true_nodes), run.experience.observations.astype(np.int64)):
            assert np.array_equal(unthrown(path, run.experience), run.experience.actions)


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
    actions = experience.actions.copy()
    actions[experience.offsets[1] : experience.offsets[2] : 3] = -1
    assert not displacements(experience)[:2].any()
    assert displacements(experience, actions=actions)[0, 0] == AXES[0]


def test_positions_are_reckoned_anew_from_where_one_was_thrown_to(maze):
    experience, nodes, threw = maze
    where = reckoned(nodes, experience)
    through = positions(nodes, where.at, experience.actions, where.moves)
    anew = positions(nodes, where.at, unthrown(nodes, experience), where.moves)
    assert (through == where.at[nodes])[threw[0] + 1 :].mean() < 0.1
    assert (anew == where.at[nodes]).mean() > 0.9


def test_being_thrown_is_not_held_against_a_decoding(maze):
    experience, nodes, _ = maze
    part = experience.first(3_000)
    layout = CloneLayout(tuple(np.bincount(part.observations) * 0 + 40))
    places = places_of(nodes[:3_000], part)
    model = from_path(Model.empty(part, layout, pseudocount=1e-3), part, numbered(places, layout)[places.at])
    states = numbered(places, layout)[places.at]
    ground = _ground(model, part, states, weight=0.1, place=0.0, moves=reckoned(nodes[:3_000], part).moves)
    assert ground.thrown_to == states[0]
    far, t = next((states[t], t) for t in np.flatnonzero(unthrown(states, part) != part.actions) if t > 50)
    tally = Tally(*(np.zeros(size) for size in (len(ground.base) * 1_600, 1)), np.zeros(1), np.zeros(1))
    tally = tally._replace(totals=np.zeros((4, layout.n_states)))
    thrown = chance_of_step(ground, tally, t, far, ground.thrown_to)
    assert thrown > 10 * chance_of_step(ground._replace(thrown_to=NOWHERE), tally, t, far, ground.thrown_to)
