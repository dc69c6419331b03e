"""Where places are reckoned to be, against walks whose coordinates are known, and what that is worth, by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_paths import random_paths

import efex
from efex.agents import Efex
from efex.kernels import merging, redecoding
from efex.kernels import reckoning as kernel
from efex.model import split_merge
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import marginal_likelihood
from efex.model.merging import room_for, same_looks
from efex.model.moves import ACROSS, AXES, LEFT, RIGHT, displacements
from efex.model.reckoning import LEAST_ASTRAY, reckon, wrapped
from efex.model.redecoding import Tally, _ground
from efex.model.split_merge import SplitMerge
from efex.model.transitions import count_transitions, places_of
from efex.model.viterbi_training import from_path
from efex.worlds import GraphWorld

WEIGHT = 0.1
MOVES = np.repeat([AXES[0], -AXES[0], AXES[2], -AXES[2]], 4).reshape(4, 4)
"""East, west, north, south."""


def turning_moves():
    """Left, right, ahead and back."""
    step = 4 * np.array([AXES[2], ACROSS[2]])
    return np.array([LEFT, RIGHT, [*step, *-step], [*-step, *step]])


@pytest.fixture(scope="module")
def grid():
    """A random walk on a grid, and the nodes it was at."""
    world = efex.make("grid2d", size=6, unique_fraction=0.3, seed=5)
    found = efex.explore(world, steps=1_500, seed=1, agent="random", episode_steps=60, progress=False)
    return found.experience, np.array(found.true_nodes)


def test_places_are_where_they_are(grid):
    experience, nodes = grid
    t = count_transitions(places := places_of(nodes, experience), experience, weight=WEIGHT, moves=MOVES)
    row, column = np.divmod(places.names, 6)
    at = t.at[:-1] - t.at[0]
    # Which way is north is not said here: the axes of the world are two of the four.
    shown = {(int(r), int(c)): int(a) for r, c, a in zip(row - row[0], column - column[0], at)}
    with np.errstate(over="ignore"):
        steps = [
            np.int64(shown[r2, c2]) - np.int64(shown[r1, c1])
            for (r1, c1), (r2, c2) in itertools.permutations(shown, 2)
            if (r2 - r1, c2 - c1) == (0, 1)
        ]
    assert len(set(steps)) == 1
    assert len(set(shown.values())) == len(shown)
    assert t.astray == LEAST_ASTRAY


def test_edges_walked_most_often_decide_and_the_others_lead_astray():
    # 0 -> 1 -> 2 by two steps east; one more edge says that 2 is where 1 is.
    source, action, target = np.array([[0, 0, 1], [1, 0, 2], [0, 0, 2]]).T
    _, at, astray, _ = reckon(MOVES, source, action, target, np.array([5.0, 4.0, 1.0]), n=4)
    assert np.diff(at[:3]).tolist() == [AXES[0], AXES[0]]
    assert astray == 0.5
    assert not reckon(MOVES, source, action, target, np.array([5.0, 4.0, 1.0]), n=4).is_trusted
    _, other, *_ = reckon(MOVES, source, action, target, np.array([5.0, 1.0, 4.0]), n=4)
    assert other[2] == other[1]
    assert at[3] not in at[:3], "what nothing connects has nothing in common"
    assert reckon(0 * MOVES, source, action, target, np.ones(3), n=4).astray == 0.5


def by_hand(t, label, head):
    """What it is worth that the edges into a class agree, None where no majority of them does."""
    edges = {}
    for place in np.flatnonzero(label == head):
        for entry in t.by_target[t.into[place] : t.into[place + 1]]:
            if t.by[entry] != 0 and label[t.source[entry]] != head:
                edges.setdefault((label[t.source[entry]], t.action[entry]), (int(t.reading[entry]), t.gain[entry]))
    told = [reading for reading, _ in edges.values()]
    agree = max(map(told.count, told), default=0)
    if 2 * agree <= len(told):
        return 0.0 if not told else None
    gains = [gain for reading, gain in edges.values() if told.count(reading) == agree]
    return np.mean(gains) * (agree - 1) + (len(told) - agree) * np.log(t.astray)


@given(random_paths(n_actions=4), st.integers(0, 1_000))
@settings(max_examples=80)
def test_all_edges_but_one_gain_by_agreeing_before_and_after_a_union(case, pick):
    path, experience = case
    places = places_of(path, experience)
    t = count_transitions(places, experience, weight=WEIGHT, moves=MOVES)
    r, n = room_for(t), len(places.names) + 1
    label, ring, size = np.arange(n), np.arange(n), np.ones(n, np.int64)
    for united in (False, True):
        if united and len(pairs := same_looks(places.observation)):
            merging.join(label, ring, size, *pairs[pick % len(pairs)])
        for head in np.unique(label[:-1]):
            if (expected := by_hand(t, label, head)) is not None:
                assert kernel.agreement(t, r, label, ring, head) == pytest.approx(expected)


@given(random_paths(n_actions=4))
@settings(max_examples=30)
def test_the_marginal_likelihood_counts_the_agreement_of_all_places(case):
    path, experience = case
    t = count_transitions(places_of(path, experience), experience, weight=WEIGHT, moves=MOVES)
    r, alone = room_for(t), np.arange(len(t.observation))
    agreed = sum(kernel.agreement(t, r, alone, alone, place) for place in alone[:-1])
    without = marginal_likelihood(path, experience, weight=WEIGHT)
    assert marginal_likelihood(path, experience, weight=WEIGHT, moves=MOVES) == pytest.approx(without + agreed)
    assert marginal_likelihood(path, experience, weight=WEIGHT, moves=0 * MOVES) == without


def test_places_that_are_elsewhere_are_not_one_and_copies_that_are_there_are(grid):
    experience, nodes = grid[0].first(600), grid[1][:600]

    def cost(path):
        """By how many nats a path is worse than the true one, without and with reckoning."""
        both = [
            marginal_likelihood(each, experience, weight=WEIGHT, moves=m)
            for each in (nodes, path)
            for m in (None, MOVES)
        ]
        return both[0] - both[2], both[1] - both[3]

    places = places_of(nodes, experience)
    unions = [
        cost(np.where(nodes == places.names[u], places.names[v], nodes)) for u, v in same_looks(places.observation)
    ]
    assert all(reckoned > plain + 1 for plain, reckoned in unions)
    assert min(unions)[0] < 2, "without, some of them are nearly as likely"
    assert all(reckoned > 5 for _, reckoned in unions)
    turn = np.arange(len(nodes)) // 100 % 2
    copies = [cost(np.where((nodes == node) & (turn == 1), 1000, nodes)) for node in places.names]
    assert all(reckoned > 0 for _, reckoned in copies if reckoned != 0)


def test_a_step_to_where_it_should_lead_is_likely_and_one_elsewhere_is_not(grid):
    experience, nodes = grid
    order = np.argsort(experience.observations[np.unique(nodes, return_index=True)[1]], kind="stable")
    shown = experience.observations[np.unique(nodes, return_index=True)[1]]
    state = np.argsort(order)[np.unique(nodes, return_inverse=True)[1]]
    layout = CloneLayout(tuple(np.bincount(shown).tolist()))
    model = from_path(Model.empty(experience, layout, pseudocount=0.01), experience, state)
    nothing = np.zeros(layout.n_states)
    tally = Tally(0.0 * model.counts.astype(np.float64), 0.0 * model.totals, nothing, nothing)
    with_moves, without = (
        _ground(model, experience, state, weight=WEIGHT, place=0.0, moves=moves) for moves in (MOVES, None)
    )
    t = next(t for t in range(100) if experience.actions[t] >= 0 and state[t] != state[t + 1])
    look = experience.observations[t + 1]
    for then in range(layout.first[look], layout.first[look] + layout.sizes[look]):
        if then != state[t]:
            reckoned, plain = (redecoding.chance_of_step(g, tally, t, state[t], then) for g in (with_moves, without))
            assert (reckoned > plain) == (then == state[t + 1])


def test_a_world_that_goes_around_in_a_circle_is_wrapped():
    looks = np.array([0, 1, 1, 2, 3, 1, 0])
    at = np.arange(40) * AXES[0]
    around = wrapped(at, looks[np.arange(40) % 7])
    assert around is not None
    assert (np.unique(around, return_inverse=True)[1] == np.arange(40) % 7).all()
    assert wrapped(at, np.random.default_rng(0).integers(0, 3, 40)) is None
    assert wrapped(at[:9], looks[np.arange(9) % 7]) is None, "too few were seen twice"
    assert wrapped(at, np.arange(40)) is None


@pytest.mark.parametrize("shape", [(24, 1), (5, 4)])
def test_rings_and_tori_are_recovered(shape):
    n, rng = shape[0] * shape[1], np.random.default_rng(4)
    nodes = np.arange(n).reshape(shape)
    turns = [np.eye(n)[np.roll(nodes, step, axis).ravel()] for axis in (0, 1) for step in (1, -1) if shape[axis] > 1]
    truth = efex.LatentGraph.from_matrices(rng.integers(0, 6, n).tolist(), turns, starts=(0,))
    found = efex.explore(GraphWorld(truth, seed=0, episode_steps=80), steps=1_000, seed=0, progress=False)
    assert found.graph.difference(truth) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), max_size=25, unique_by=lambda each: each[0]))
@settings(max_examples=60)
def test_the_most_frequent_way_is_the_least_of_those_that_most_pairs_of_a_sight_are_apart(spots):
    spot, looks = np.array(sorted(spots), np.int64).reshape(-1, 2).T
    order, start = np.argsort(looks, kind="stable"), np.searchsorted(np.sort(looks), np.arange(4))
    pairs = [(i, j) for i, j in itertools.combinations(range(len(spot)), 2) if looks[i] == looks[j]]
    ways = [int(spot[i] - spot[j]) for i, j in pairs]
    way = kernel.most_frequent_way(spot, order, start)
    assert way.tolist() == ([min(ways, key=lambda each: (-ways.count(each), each))] if ways else [])


def test_a_walk_is_where_its_steps_led():
    at = np.array([7, 100, 200])
    places, actions = np.array([0, 1, 1, 2, 0, 0]), np.array([0, 0, 2, -1, 3, -1])
    moves = np.repeat([10, -10, 0, 0], 4).reshape(4, 4)
    # A step of unknown length, and an episode's beginning, are where the map says.
    assert kernel.positions(places, at, actions, moves).tolist() == [7, 17, 17, 200, 7, 7]


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(0, 2**40))
def test_what_a_turning_walk_did_is_undone_backwards(actions, begin):
    """Where a robot that turns, goes ahead and back is, against its cell and heading; and the way back of each step."""
    moves = turning_moves()
    at, seen, x, y, heading = [begin], {(0, 0, begin % 4): begin}, 0, 0, begin % 4
    for action in actions:
        at.append(kernel.after(moves, action, np.int64(at[-1])))
        assert kernel.before(moves, action, at[-1]) == at[-2]
        turn, step = ((1, 0), (-1, 0), (0, 1), (0, -1))[action]
        x, y = (x + step * (1, 0, -1, 0)[heading], y + step * (0, 1, 0, -1)[heading])
        heading = (heading + turn) % 4
        assert seen.setdefault((x, y, heading), at[-1]) == at[-1]
    assert len(set(seen.values())) == len(seen)
    assert [at[-1] % 4, kernel.invert(moves).tolist()] == [heading, [1, 0, 3, 2]]


def test_places_of_a_turning_walk_are_told_by_any_tree_of_edges():
    """Two rooms beside one another, each with four headings: which edges decide makes no difference."""
    rng, moves = np.random.default_rng(0), turning_moves()
    pose = [(room, heading) for room in range(2) for heading in range(4)]
    edges = [(pose.index((r, h)), 0, pose.index((r, (h + 1) % 4))) for r, h in pose]
    edges += [(pose.index((0, 0)), 2, pose.index((1, 0))), (pose.index((1, 2)), 2, pose.index((0, 2)))]
    for _ in range(20):
        order = rng.permutation(len(edges))
        source, action, target = np.array(edges)[order].T
        where = reckon(moves, source, action, target, np.arange(len(edges), 0.0, -1.0), n=8)
        assert len(set(where.at.tolist())) == 8
        assert where.astray == max(1 / (len(edges) - 8 + 2), LEAST_ASTRAY)
        assert kernel.after(moves, 2, where.at[0]) == where.at[4]
        assert where.at[4] ^ 2 == where.at[6], "an about-turn"


def test_reckoning_finds_a_map_from_few_steps():
    world = efex.make("grid2d", size=8, unique_fraction=0.1, seed=3)
    found = {
        start: efex.explore(world, steps=700, seed=0, agent=Efex(start=start), progress=False)
        for start in ("split-merge", "unreckoned")
    }
    precision = {start: efex.measures.precision(run, world, walks=20, steps=500) for start, run in found.items()}
    assert precision["split-merge"] > 0.95
    assert precision["split-merge"] > precision["unreckoned"] + 0.1
    assert SplitMerge().reckon
    assert not SplitMerge(reckon=False).reckon


def test_who_is_carried_off_does_not_take_every_step_for_another_place(monkeypatch):
    """A maze that sends one home: what is reckoned along an endless walk has more places the longer it is."""
    world = efex.make("teleport-maze", unique_fraction=0.3, seed=1, episode_steps=None)
    walk = efex.explore(world, steps=3_000, seed=1, agent=Efex(start="unreckoned"), progress=False)
    model, tried = walk.recovery.model, []
    monkeypatch.setattr(split_merge._Search, "_try", lambda self, told: tried.append(len(np.unique(told))))
    search = SplitMerge(contexts=0, melts=0, redecode=False)
    search(model, walk.experience, model.layout, method="em", turn=1, rng=np.random.default_rng(0))
    assert displacements(walk.experience).any()
    assert all(n <= 3 * walk.graph.n_nodes for n in tried)
    # As if one were carried off to any place, which would not be called being thrown.
    monkeypatch.setattr(split_merge, "unthrown", lambda path, experience: experience.actions)
    monkeypatch.setattr(split_merge, "MOST_MORE", 1_000)
    search(model, walk.experience, model.layout, method="em", turn=1, rng=np.random.default_rng(0))
    assert max(tried) > 3 * walk.graph.n_nodes
