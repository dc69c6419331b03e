import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_paths import random_paths
from scipy.special import gammaln

import efex
from efex.experience import Experience
from efex.kernels import merging as kernel
from efex.model.contexts import tell_apart
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import marginal_likelihood
from efex.model.merging import merge, room_for, same_looks
from efex.model.naming import named_after
from efex.model.split_merge import SplitMerge
from efex.model.transitions import Places, count_transitions, places_of
from efex.model.viterbi_training import from_path

WEIGHT = 0.1


def walk(world, *, steps, seed, length=50):
    """A random walk in a world, and the nodes it was at."""
    found = efex.explore(world, steps=steps, seed=seed, agent="random", episode_steps=length, progress=False)
    return found.experience, np.array(found.true_nodes)


@pytest.fixture(scope="module")
def walked():
    return walk(efex.make("grid2d", size=5, unique_fraction=0.4, seed=3), steps=3_000, seed=0)


def merged(path, experience, weight):
    return merge(path, experience, weight=weight)


def partition(path):
    """A path's states numbered as they come, so that two paths can be compared whatever their names."""
    _, first, at = np.unique(path, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[at]


@given(random_paths(n_actions=2))
@settings(max_examples=60)
def test_the_marginal_likelihood_is_what_an_urn_gives_step_by_step(case):
    path, experience = case
    places = places_of(path, experience)
    t = count_transitions(places, experience, weight=WEIGHT)
    prior = {
        (s, a, z): base + t.sticky[t.observation[s], a] * (s == z)
        for s, a, z, base in zip(t.source.tolist(), t.action.tolist(), t.target.tolist(), t.base.tolist())
    }
    before, rows, total = {}, {}, 0.0
    home = len(places.names)
    for begin, end in zip(experience.offsets[:-1], experience.offsets[1:]):
        at = places.at[begin:end].tolist()
        steps = [(home, 0, at[0]), *zip(at, experience.actions[begin : end - 1].tolist(), at[1:])]
        for source, action, target in steps:
            entry, row = (source, action, target), (source, action)
            total += np.log((before.get(entry, 0) + prior[entry]) / (rows.get(row, 0) + WEIGHT))
            before[entry], rows[row] = before.get(entry, 0) + 1, rows.get(row, 0) + 1
    of_names = sum(gammaln(n + 1.0) for n in np.bincount(places.observation))
    assert marginal_likelihood(path, experience, weight=WEIGHT) == pytest.approx(total + of_names)


@given(random_paths(n_actions=2))
@settings(max_examples=40)
def test_what_a_row_may_lead_to_has_no_more_weight_than_the_row(case):
    path, experience = case
    places = places_of(path, experience)
    t = count_transitions(places, experience, weight=WEIGHT)
    beforehand = t.sticky[t.observation]
    np.add.at(beforehand, (t.source, t.action), t.base)
    assert (beforehand <= WEIGHT + 1e-12).all()
    assert (t.base > 0).all()


def score_of_all(t, label, ring):
    """What all rows are worth, reckoned from nothing."""
    r = room_for(t)
    rows = [(z, a) for z in np.unique(label) for a in range(t.n_actions)]
    for row in rows:
        kernel.know_row(t, r, label, ring, *row)
    return sum(r.worth[z * t.n_actions + a] for z, a in rows)


@given(random_paths(n_actions=2), st.integers(0, 1_000))
@settings(max_examples=80)
def test_unions_gain_what_the_scores_differ_by_and_can_be_undone(case, pick):
    path, experience = case
    places = places_of(path, experience)
    t = count_transitions(places, experience, weight=WEIGHT)
    r, n = room_for(t), len(places.names) + 1
    pairs = same_looks(places.observation)
    if len(pairs) == 0:
        return
    label, ring, size, trail = np.arange(n), np.arange(n), np.ones(n, np.int64), np.zeros((n, 3), np.int64)
    kernel.know_places(t, r, label, ring)
    worth, mostly, before = r.worth.copy(), r.mostly.copy(), score_of_all(t, label, ring)
    x, y = pairs[pick % len(pairs)]
    gain, unions = kernel.unite(t, r, label, ring, size, x, y, 0.5, trail, False)
    assert unions >= 1
    assert label[x] == label[y]
    assert (t.observation[label] == t.observation).all()
    assert len(np.unique(label)) == n - unions
    assert gain == pytest.approx(score_of_all(t, label, ring) - before - 0.5 * unions)
    kernel.part(r, label, ring, size, trail, 0, unions)
    assert kernel.unite(t, r, label, ring, size, x, y, 0.5, trail, True) == (pytest.approx(gain), unions)
    kernel.part(r, label, ring, size, trail, 0, unions)
    assert (r.worth == worth).all()
    assert (r.mostly == mostly).all()
    assert (label == np.arange(n)).all()
    assert (ring == np.arange(n)).all()
    assert (size == 1).all()
    assert not r.seen.any()
    assert not r.marked.any()
    assert not r.told.any()


@given(random_paths(n_actions=3), st.integers(0, 1_000))
@settings(max_examples=60)
def test_what_rows_are_worth_stays_known_while_unions_are_kept(case, pick):
    path, experience = case
    places, moves = places_of(path, experience), np.repeat([5, -5, 0], 4).reshape(3, 4)
    t = count_transitions(places, experience, weight=WEIGHT, moves=moves)
    r, n, pairs = room_for(t), len(places.names) + 1, same_looks(places.observation)
    label, ring, size, trail = np.arange(n), np.arange(n), np.ones(n, np.int64), np.zeros((n, 3), np.int64)
    kernel.know_places(t, r, label, ring)
    for x, y in np.random.default_rng(pick).permutation(pairs)[:6]:
        if label[x] == label[y]:
            continue
        gain, unions = kernel.unite(t, r, label, ring, size, x, y, 0.0, trail, False)
        assert trail[:, 2].max() <= len(r.changed)
        if gain <= kernel.HOPELESS:
            kernel.part(r, label, ring, size, trail, 0, unions)
        fresh = room_for(t)
        for row in ((z, a) for z in np.unique(label) for a in range(t.n_actions)):
            kernel.know_row(t, fresh, label, ring, *row)
            known = row[0] * t.n_actions + row[1]
            assert r.worth[known] == fresh.worth[known]
            assert r.mostly[known] == fresh.mostly[known]


def test_a_hopeless_union_is_given_up_early_and_undone():
    # Two places look alike; an action leads on from the one to 1, from the other to 2, again and again.
    walks = [([3, 0, 1], [1, 0])] * 40 + [([4, 0, 2], [1, 0])] * 40
    experience = Experience.from_episodes(walks, n_actions=2)
    path = np.tile([3, 0, 1], 40).tolist() + np.tile([4, 5, 2], 40).tolist()
    t = count_transitions(places_of(np.array(path), experience), experience, weight=WEIGHT)
    r, n = room_for(t), len(t.observation)
    label, ring, size, trail = np.arange(n), np.arange(n), np.ones(n, np.int64), np.zeros((n, 3), np.int64)
    kernel.know_places(t, r, label, ring)
    worth, before = r.worth.copy(), score_of_all(t, label, ring)
    ((x, y),) = same_looks(t.observation[:-1])
    gain, unions = kernel.unite(t, r, label, ring, size, x, y, 0.0, trail, True)
    assert unions == 1
    assert score_of_all(t, label, ring) - before <= gain <= kernel.HOPELESS
    kernel.part(r, label, ring, size, trail, 0, unions)
    assert (r.worth == worth).all()
    assert (label == np.arange(n)).all()


def test_needless_copies_are_merged(walked):
    experience, truth = walked
    copies = 2 * truth + np.random.default_rng(0).integers(0, 2, len(truth))
    assert (partition(merged(copies, experience, weight=WEIGHT)) == partition(truth)).all()


def test_different_places_are_not_merged(walked):
    experience, truth = walked
    assert (merged(truth, experience, weight=WEIGHT) == truth).all()


@given(random_paths(n_actions=2))
@settings(max_examples=40)
def test_merging_keeps_what_is_seen_and_ends(case):
    path, experience = case
    once = merged(path, experience, weight=WEIGHT)
    shows = dict(zip(path.tolist(), experience.observations.tolist()))
    assert [shows[state] for state in once.tolist()] == experience.observations.tolist()
    assert len(np.unique(once)) <= len(np.unique(path))


def test_merging_no_transitions_is_no_trouble():
    experience = Experience.from_episodes([([0], []), ([1], []), ([0], [])], n_actions=2)
    assert len(np.unique(merged(np.array([0, 1, 2]), experience, weight=WEIGHT))) == 2


def test_a_slippery_place_is_not_kept_apart_by_what_happened_next():
    """What action 0 leads to is random; a path that knows it beforehand has a copy of the place for either outcome."""
    rng = np.random.default_rng(0)
    outcome = rng.integers(1, 3, 300)
    observations = np.stack([np.zeros(300, int), outcome], axis=1).ravel()
    experience = Experience.from_episodes([(observations.tolist(), [0] * 599)], n_actions=1)
    knowing = observations.copy()
    knowing[::2] = np.where(outcome == 1, 0, 3)
    assert len(np.unique(merged(knowing, experience, weight=WEIGHT))) == 3


def test_places_keep_their_names(walked):
    experience, truth = walked
    layout = CloneLayout(tuple((2 * np.bincount(places_of(truth, experience).observation)).tolist()))
    before = named_after(truth, layout.first[experience.observations], experience, layout)
    assert (partition(before) == partition(truth)).all()
    assert (layout.observation[before] == experience.observations).all()
    other = np.where(np.arange(len(truth)) < 20, truth + 100, truth)  # a few visits were to places of their own
    after = named_after(other, before, experience, layout)
    assert (after[20:] == before[20:]).all()
    assert (partition(after) == partition(other)).all()


def test_splitting_and_merging_finds_the_places_from_what_they_show(walked):
    experience, truth = walked
    looks = places_of(truth, experience).observation
    layout = CloneLayout((8,) * len(np.unique(looks)))
    blank = Model.empty(experience, layout, pseudocount=WEIGHT / layout.n_states)
    model = from_path(blank, experience, layout.first[experience.observations])
    rng = np.random.default_rng(0)
    scores = []
    for turn in range(30):
        model = SplitMerge()(model, experience, layout, method="em+viterbi", turn=turn, rng=rng).model
        scores.append(marginal_likelihood(model.decode(experience).path, experience, weight=WEIGHT))
    assert (np.diff(scores) >= -1e-6).all()
    assert (partition(model.decode(experience).path) == partition(truth)).all()


@pytest.mark.parametrize("method", ["em", "em+viterbi", "em+vb"])
def test_a_map_is_learned_from_a_random_walk(method):
    world = efex.make("sparse-maze", size=11, unique_fraction=0.3, seed=1)
    found = efex.explore(world, steps=4_000, seed=1, agent="random", progress=False)
    learned = efex.learn(found.experience, method=method, seed=0)
    _, at = np.unique(found.true_nodes, return_inverse=True)
    confusion = np.zeros((learned.graph.n_nodes, at.max() + 1), int)
    np.add.at(confusion, (partition(learned.recovery.path), at), 1)
    assert confusion.max(axis=1).sum() >= 0.98 * len(at)
    assert confusion.max(axis=0).sum() >= 0.98 * len(at)


def test_without_patience_it_is_left_at_em(walked):
    experience, _ = walked
    plain = efex.learn(experience, patience=0, seed=0)
    searched = efex.learn(experience, patience=2, seed=0)
    assert marginal_likelihood(searched.recovery.path, experience, weight=WEIGHT) > marginal_likelihood(
        plain.recovery.path, experience, weight=WEIGHT
    )


def test_places_are_numbered_by_name():
    experience = Experience.from_episodes([([5, 7, 5], [0, 0])], n_actions=1)
    assert_places = places_of(np.array([40, 10, 40]), experience)
    assert isinstance(assert_places, Places)
    assert assert_places.names.tolist() == [10, 40]
    assert assert_places.at.tolist() == [1, 0, 1]
    assert experience.observations[[1, 0]].tolist() == assert_places.observation.tolist()


def steps_around(path, experience, t):
    """The two steps before a position and the one after it, as far as the episode has them."""
    begin = experience.offsets[np.searchsorted(experience.offsets, t, side="right") - 1]
    before = [(int(path[k]), int(experience.actions[k])) for k in range(max(begin, t - 2), t)]
    after = (int(experience.actions[t]), int(path[t + 1])) if experience.actions[t] >= 0 else None
    return before, after


def test_places_are_told_apart_by_the_steps_around_them(walked):
    experience, path = walked
    rng, kinds = np.random.default_rng(0), set()
    for _ in range(30):
        told = tell_apart(path, experience, rng=rng)
        parts = set(told.parts.tolist())
        # A state of the new path is within one place, and a place that is not told apart is one state.
        whole = {}
        for new, old in zip(told.path.tolist(), path.tolist()):
            assert whole.setdefault(new, old) == old
        assert len({old for new, old in whole.items() if new not in parts}) == len(whole) - len(parts)
        assert not {whole[part] for part in parts} & {old for new, old in whole.items() if new not in parts}
        contexts = {}
        for t in np.flatnonzero(np.isin(told.path, told.parts)).tolist():
            before, after = steps_around(path, experience, t)
            contexts.setdefault(int(path[t]), []).append((int(told.path[t]), before[-1:], before, after))
        if not contexts:
            continue
        same = [
            all((a[0] == b[0]) == (a[kind] == b[kind]) for visits in contexts.values() for a in visits for b in visits)
            for kind in (1, 2, 3)
        ]
        assert sum(same) >= 1
        kinds |= {kind for kind, fits in enumerate(same) if fits}
    assert kinds == {0, 1, 2}


def test_merging_may_be_asked_about_some_states_only(walked):
    experience, path = walked
    rng = np.random.default_rng(1)
    twice = path * 2 + rng.integers(2, size=len(path))
    asked = np.unique(twice)[:2]
    left = merge(twice, experience, weight=WEIGHT, among=asked)
    assert merge(twice, experience, weight=WEIGHT, among=np.zeros(0, np.int64)).tolist() == twice.tolist()
    assert len(np.unique(left)) < len(np.unique(twice))
    assert len(np.unique(merged(twice, experience, WEIGHT))) <= len(np.unique(left))


def test_contexts_mend_a_place_that_is_two(walked):
    """Two places that are one on a path are found to be two again."""
    experience, path = walked
    looks = experience.observations
    first, second = next(
        (a, b) for a in np.unique(path) for b in np.unique(path) if a < b and looks[path == a][0] == looks[path == b][0]
    )
    wrong = np.where(path == second, first, path)
    layout = CloneLayout(tuple(np.full(len(experience.alphabet), 12).tolist()))
    empty = Model.empty(experience, layout, pseudocount=WEIGHT / layout.n_states)
    start = from_path(empty, experience, named_after(wrong, layout.first[looks], experience, layout))
    found = SplitMerge(contexts=20, melts=0)(
        start, experience, layout, method="em", turn=1, rng=np.random.default_rng(0)
    ).model.decode(experience)
    score = marginal_likelihood(found.path, experience, weight=WEIGHT)
    assert score > marginal_likelihood(wrong, experience, weight=WEIGHT)
    assert score >= marginal_likelihood(merged(path, experience, WEIGHT), experience, weight=WEIGHT) - 10


def test_no_observation_gets_more_places_than_it_has_clones(walked):
    experience, _ = walked
    tight = CloneLayout(tuple(np.full(len(experience.alphabet), 2).tolist()))
    start = Model.random(experience, tight, pseudocount=0.01, rng=np.random.default_rng(0))
    rng = np.random.default_rng(1)
    found = SplitMerge(contexts=30)(start, experience, tight, method="em+viterbi", turn=1, rng=rng).model
    assert found.layout.sizes == tight.sizes
