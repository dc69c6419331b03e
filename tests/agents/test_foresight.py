"""What untried actions should do: back over an edge, to a neighbour, or nowhere; and how sure that is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import efex
from efex.agents import Efex
from efex.agents.foresight import LIKELY, foreseeing, foreseen, reckoning_of, tells_places
from efex.arrays import read_arrays, write_arrays
from efex.belief import Belief
from efex.errors import InvalidArgumentError, StorageError
from efex.experience import Experience
from efex.kernels import foresight as kernel
from efex.model.split_merge import SplitMerge
from efex.utility import information_gain

EAST, WEST, NORTH, SOUTH = range(4)


def walked(looks, actions):
    return Experience.from_episodes([(looks, actions)], n_actions=4)


@pytest.fixture
def square():
    """To and fro along two axes often enough, around a square 0 1 / 3 2 but for its last side, and against a wall."""
    looks = [0, 1] * 6 + [0] + [3, 0] * 6 + [1, 2, 3]
    actions = [EAST, WEST] * 6 + [NORTH, SOUTH] * 6 + [EAST, NORTH, WEST]
    experience = walked(looks, actions)
    t = np.arange(len(actions))
    states = np.array(looks)
    belief = Belief.empty(4, 4, prior=0.01).updated(states[t], np.array(actions), states[t + 1])
    return belief.updated(np.array([0, 1]), np.array([SOUTH, SOUTH]), np.array([0, 1])), experience, states


def test_what_is_foreseen_is_the_way_back_and_what_is_there(square):
    ahead = foreseeing(*square)
    told = {(s, a): t for s, a, t in foreseen(ahead).tolist()}
    assert told == {(2, SOUTH): 1, (3, EAST): 2}
    assert {(s, a): ahead.targets(s, a).tolist() for s, a in told} == {pair: [to] for pair, to in told.items()}
    assert (ahead.doubt[ahead.doubt > 0] < LIKELY).all()
    assert ahead.totals.sum() == square[0].totals.sum() + 2


def test_what_is_foreseen_is_doubted_as_often_as_it_was_wrong(square):
    belief, *_ = square
    ahead = foreseeing(*square)
    untried = information_gain(np.full(4, 0.01))
    row = 3 * 4 + EAST
    once = information_gain(np.array([1.01, 0.01, 0.01, 0.01]))
    doubt = ahead.doubt[row]
    assert ahead.information_gain[row] == pytest.approx(doubt * untried + (1 - doubt) * once)
    assert belief.information_gain[row] == pytest.approx(untried)
    # The rows back over an edge that were tried: 0 and 1, 0 and 3, 2 to 3's way back; all led back. None failed.
    assert doubt == pytest.approx(0.5 / (1 + 4))


def test_coordinates_tell_places_apart_where_much_of_what_led_elsewhere_led_there(square):
    belief, experience, states = square
    where = reckoning_of(belief, experience, states)
    assert where.is_trusted
    assert tells_places(belief, where)
    doubtful = where._replace(astray=0.5)
    assert not doubtful.is_trusted
    assert tells_places(belief, doubtful), "every step but those that bump leads where it should"
    halved = where.moves.copy()
    halved[[EAST, WEST]] = 0
    # Of 27 steps that led elsewhere 13 were along the other axis.
    assert tells_places(belief, doubtful._replace(moves=halved))
    halved[NORTH] = 0
    assert not tells_places(belief, doubtful._replace(moves=halved)), "too few actions are known to move"
    elsewhere = doubtful._replace(at=np.array([0, 5, 1, 7]))
    assert not tells_places(belief, elsewhere), "nothing led where it should"
    astray = np.zeros(60, np.int64)
    often = belief.updated(astray, astray + SOUTH, astray + 2)
    assert not tells_places(often, doubtful), "most of what led elsewhere did not lead there"


def test_a_wall_seen_from_one_side_is_there_from_the_other():
    # Two rows of three: from the lower ones one cannot go north, and two of the upper ones know the wall as well.
    looks = [0, 1] * 8 + [2] + [5, 2] * 8 + [5, 4, 3, 4, 5, 4, 3]
    actions = [EAST, WEST] * 7 + [EAST, EAST] + [NORTH, SOUTH] * 8 + [NORTH, WEST, WEST, EAST, EAST, WEST, WEST]
    experience = walked(looks, actions)
    t, states = np.arange(len(actions)), np.array(looks)
    belief = Belief.empty(6, 4, prior=0.01).updated(states[t], np.array(actions), states[t + 1])
    walls = np.array([[0, NORTH, 0], [3, SOUTH, 3], [1, NORTH, 1]])
    ahead = foreseeing(belief.updated(*walls.T), experience, states)
    assert {(s, a): to for s, a, to in foreseen(ahead).tolist()}[4, SOUTH] == 4


def test_a_complete_belief_and_one_without_axes_foresee_nothing(square):
    belief, experience, path = square
    still = walked([0, 1, 2, 3, 0, 1, 2, 3], [0, 1, 2, 3, 0, 1, 2])
    assert foreseeing(belief, still, path) is belief
    assert foreseen(belief) is None
    assert not reckoning_of(belief, still, path).moves.any()
    closed = belief.closing(belief.totals == 0)
    assert foreseeing(closed, experience, path) is closed


def test_a_run_knows_what_is_expected_and_keeps_it(tmp_path):
    world = efex.make("grid2d", size=6, unique_fraction=0.3, seed=1)
    run = efex.explore(world, steps=150, seed=1, folder=tmp_path, progress=False)
    assert run.recovery.foreseen is not None
    more = run.expected.n_edges - run.graph.n_edges
    assert more == len(run.recovery.foreseen) > 0
    assert run.expected.count.sum() == run.graph.count.sum() + more
    again = efex.load(tmp_path)
    assert np.array_equal(again.recovery.foreseen, run.recovery.foreseen)
    assert again.expected.n_edges == run.expected.n_edges
    plain = efex.explore(world, steps=150, seed=1, agent=Efex(start="unreckoned"), progress=False)
    assert plain.recovery.foreseen is None
    assert plain.expected is plain.graph


@pytest.mark.parametrize(("column", "value"), [(0, 10_000), (2, -1), (1, 4)])
def test_foreseen_edges_that_cannot_be_are_refused(tmp_path, column, value):
    world = efex.make("grid2d", size=6, unique_fraction=0.3, seed=1)
    efex.explore(world, steps=150, seed=1, folder=tmp_path, progress=False)
    state = read_arrays(tmp_path / "model.safetensors")
    state.arrays["foreseen"][0, column] = value
    write_arrays(tmp_path / "model.safetensors", state)
    with pytest.raises(StorageError, match="foreseen"):
        efex.load(tmp_path)


@pytest.mark.parametrize("reckon", [1, "yes", None])
def test_a_flag_that_is_none_is_refused(reckon):
    with pytest.raises(InvalidArgumentError, match="reckon"):
        SplitMerge(reckon=reckon)


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=40), st.integers(0, 100))
@settings(max_examples=60)
def test_a_table_knows_the_state_at_every_coordinate(spots, seed):
    rng, n = np.random.default_rng(seed), len(spots)
    at = np.array(spots)[rng.integers(0, n, n)]  # some states are at the same coordinate
    target = rng.integers(0, n, rng.integers(0, 2 * n))
    start = np.concatenate([[0], np.sort(rng.integers(0, len(target) + 1, 2 * n - 1)), [len(target)]])
    there = kernel.whereabouts(start, target, at, n, 2)
    leads = np.flatnonzero(start[:-1:2] < start[2::2])
    expected = {int(at[state]): state for state in (*leads, *target)}
    for where in (*at.tolist(), 1, -1, 2**61):
        assert kernel.state_at(there, at, np.int64(where)) == expected.get(where, -1)


def test_what_was_thrown_whenever_it_was_tried_is_as_good_as_untried():
    """A corridor whose dead ends north throw to its beginning; at one cell that happened at once."""
    cells = 14
    there, back = [(EAST, cell) for cell in range(1, cells)], [(WEST, cell) for cell in range(cells - 2, -1, -1)]
    walk = [(EAST, 1), (WEST, 0)] * 8 + there + back
    actions, looks = [action for action, _ in walk], [0, *(cell for _, cell in walk)]
    experience, states = walked(looks, actions), np.array(looks)
    t = np.arange(len(actions))
    belief = Belief.empty(cells, 4, prior=0.01).updated(states[t], np.array(actions), states[t + 1])
    bumps = [(cell, NORTH, cell) for cell in range(1, 12) for _ in range(3)]
    throws = [(cell, NORTH, 0) for cell in range(1, 12)]
    belief = belief.updated(*np.array([*bumps, *throws, (12, WEST, 0)]).T)
    ahead = foreseeing(belief.updated(*np.array([[13], [EAST], [0]])), experience, states)
    gain = ahead.information_gain.reshape(cells, 4)
    untried = information_gain(np.full(cells, 0.01))
    assert ahead.information_gain[0 * 4 + SOUTH] == pytest.approx(untried)
    assert gain[13, EAST] == pytest.approx(untried), "cells further on cannot be next to the beginning"
    bumped_thrice = information_gain(np.append(3.01, np.full(cells - 1, 0.01)))
    assert gain[1:12, NORTH] == pytest.approx(np.full(11, bumped_thrice))
    assert belief.information_gain.reshape(cells, 4)[1, NORTH] > 1.2 * bumped_thrice
    once = information_gain(np.append(1.01, np.full(cells - 1, 0.01)))
    assert gain[12, WEST] == pytest.approx(once), "what leads elsewhere, too, was tried"


def test_in_a_maze_that_throws_what_is_left_to_learn_is_where_actions_lead():
    world, agent = efex.make("teleport-maze", size=11, unique_fraction=0.1, seed=1500), Efex()
    run = efex.explore(world, steps=1_500, seed=1500, agent=agent, progress=False)
    assert run.graph.merge_equivalent().n_nodes == world.truth.n_nodes
    ahead = agent._foreseeing
    assert ahead.thrown.sum() > 10
    states = np.unique(agent.path)
    everything = agent.belief.information_gain.reshape(-1, 4)[states].sum()
    assert run.information_left < 0.8 * everything
