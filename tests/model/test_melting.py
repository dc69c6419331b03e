"""Melting: what is forgotten, what is not, and that EM finds what no smaller change of a path does."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_paths import random_paths

from efex.experience import Experience
from efex.kernels import melting as kernel
from efex.model import melting, split_merge
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import explanation
from efex.model.melting import SPARE, melted
from efex.model.naming import numbered
from efex.model.redecoding import redecoded
from efex.model.split_merge import SplitMerge
from efex.model.transitions import places_of
from efex.model.viterbi_training import from_path

WEIGHT = 0.1


def dense(model):
    """The counts as an array by (action, state, next state)."""
    n, full = model.layout.n_states, np.zeros((model.n_actions, model.layout.n_states, model.layout.n_states))
    b, first = model.blocks, model.layout.first
    for k in range(len(b)):
        (x, y), entries = (b.source[k], b.target[k]), model.counts[b.start[k] : b.start[k + 1]]
        shape = (first[x + 1] - first[x], first[y + 1] - first[y])
        full[b.action[k], first[x] : first[x + 1], first[y] : first[y + 1]] = entries.reshape(shape)
    assert full.shape == (model.n_actions, n, n)
    return full


@given(random_paths(n_actions=2), st.integers(0, 1_000), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
@settings(max_examples=60)
def test_what_is_remembered_is_as_it_was(case, seed, share):
    path, experience = case
    rng = np.random.default_rng(seed)
    places = places_of(path, experience)
    layout = CloneLayout(tuple((np.bincount(places.observation, minlength=len(experience.alphabet)) + 2).tolist()))
    empty = Model.empty(experience, layout, pseudocount=1.0)
    model = from_path(empty, experience, numbered(places, layout)[places.at])
    forgotten, counts, blocks = rng.random(layout.n_states) < share, model.counts.copy(), model.blocks
    noise = rng.random(len(counts), np.float32) * (rng.random(len(counts)) < 0.9)
    kernel.melt(counts, layout.first, blocks.start, blocks.source, blocks.target, forgotten, 0.5, noise)
    before, after = dense(model), dense(replace(model, counts=counts))
    kept = ~forgotten
    assert (after[:, kept][:, :, kept] == before[:, kept][:, :, kept]).all()
    for seen in range(layout.n_observations):
        there = layout.observation == seen
        assert np.allclose(after[:, kept][:, :, there].sum(axis=2), before[:, kept][:, :, there].sum(axis=2))
    drawn, elsewhere = dense(replace(model, counts=noise)), ~np.eye(layout.n_states, dtype=bool)
    assert (after[:, forgotten][:, elsewhere[forgotten]] == drawn[:, forgotten][:, elsewhere[forgotten]]).all()
    assert np.isfinite(after).all()


@pytest.mark.parametrize("room", [1, 4, 50])
def test_there_are_clones_to_spare_as_far_as_there_is_room(room):
    experience = Experience.from_episodes([(list("abacabb"), [0] * 6)])
    path = np.array([0, 3, 1, 6, 0, 3, 4])
    most = CloneLayout((max(room, 2), max(room, 2), room))
    model = melted(path, experience, most=most, weight=WEIGHT, rng=np.random.default_rng(0))
    used = np.array([2, 2, 1])
    assert model.layout.sizes == tuple(np.minimum(used + SPARE, np.maximum(used, room)).tolist())


@pytest.mark.parametrize("looks", [1, 3])
def test_what_is_forgotten_rather_stays_where_the_same_is_seen_again(monkeypatch, looks):
    monkeypatch.setattr(melting, "SHARES", (1.0,))
    monkeypatch.setattr(melting, "STAYS", (0.75, 0.75))
    rng = np.random.default_rng(0)
    seen = rng.integers(0, looks, 500)
    experience = Experience.from_episodes([(seen.tolist(), rng.integers(0, 2, 499))], n_actions=2)
    path = experience.observations * 14 + rng.integers(0, 14, 500)
    model = melted(path, experience, most=CloneLayout((50,) * looks), weight=WEIGHT, rng=rng)
    for action in dense(model):
        for look in range(looks):
            again = action[model.layout.block(look), model.layout.block(look)]
            assert again.shape == (20, 20)
            stays = np.diag(again) / again.sum(axis=1)
            assert stays.mean() == pytest.approx(0.75, abs=0.03)
            assert stays.std() < 0.05


def test_any_places_are_forgotten_or_neighbours():
    at, runs, counts = np.arange(40), 0, set()
    rng = np.random.default_rng(0)
    for _ in range(300):
        few = melting._some(at, rng)
        counts.add(int(few.sum()))
        # Places visited one after the other are one run, all around.
        runs += np.count_nonzero(few & ~np.roll(few, 1)) == 1
    assert counts == {4, 8, 16}
    assert 110 < runs < 190
    assert melting._some(np.zeros(5, np.int64), rng).tolist() == [True]


@pytest.fixture
def rooms():
    """Ten rooms that look alike but for two, from each of which four of six exits lead nowhere, walked at random."""
    rng, n = np.random.default_rng(3), 10
    doors = np.tile(np.arange(n)[:, None], (1, 6))
    for room in range(n):
        doors[room, rng.permutation(6)[:2]] = (room + 1) % n, rng.integers(n)
    walks, nodes = [], []
    for _ in range(30):
        at, actions = [0], rng.integers(0, 6, 100)
        for action in actions:
            at.append(int(doors[at[-1], action]))
        walks.append((["dead end" if room in (3, 7) else "room" for room in at], actions))
        nodes += at
    return Experience.from_episodes(walks), np.array(nodes)


def searched(experience, search, *, turns=4):
    """The score after a few refits that began with one place for every sight, and the path."""
    layout, rng = CloneLayout((16,) * len(experience.alphabet)), np.random.default_rng(0)
    blank = Model.empty(experience, layout, pseudocount=WEIGHT / layout.n_states)
    model = from_path(blank, experience, layout.first[experience.observations])
    for turn in range(turns):
        model = search(model, experience, layout, method="em+viterbi", turn=turn, rng=rng).model
    return explanation(model, experience), model.decode(experience).path


def test_a_maze_of_rooms_all_alike_is_found_by_forgetting_places(rooms):
    experience, nodes = rooms
    found, path = searched(experience, SplitMerge())
    without, _ = searched(experience, SplitMerge(melts=0))
    assert found > without + 50
    assert len(np.unique(path)) == len(np.unique(nodes)) == len(np.unique(path * 100 + nodes))


def test_places_are_forgotten_once_where_nothing_is_left_to_chance_and_until_it_was_in_vain_elsewhere(monkeypatch):
    asked = []
    monkeypatch.setattr(split_merge, "melted", lambda *args, **options: asked.append(1) or melted(*args, **options))
    ring = [(list("abcabcabc"), [0] * 8)]
    searched(Experience.from_episodes(ring), SplitMerge(melts=0), turns=1)
    assert len(asked) == 0
    searched(Experience.from_episodes(ring), SplitMerge(), turns=1)
    assert len(asked) == 1
    asked.clear()
    chance = [(list("abacabac"), [0] * 7), (list("acabacab"), [0] * 7), (list("abab"), [0] * 3)]
    search = SplitMerge(contexts=0, redecode=False)
    experience = Experience.from_episodes(chance)
    layout, rng = CloneLayout((1, 1, 1)), np.random.default_rng(0)
    model = Model.random(experience, layout, pseudocount=0.1, rng=rng)
    search(model, experience, layout, method="em", turn=1, rng=rng)
    assert len(asked) == search.melts


def test_a_path_far_behind_is_not_decoded_again(rooms, monkeypatch):
    asked = []

    def noting(*args, **options):
        asked.append(1)
        return redecoded(*args, **options)

    monkeypatch.setattr(split_merge, "redecoded", noting)
    experience, _ = rooms
    searched(experience, SplitMerge(rounds=0, contexts=0), turns=1)
    with_hope = len(asked)
    asked.clear()
    monkeypatch.setattr(split_merge, "HOPELESS", -math.inf)
    searched(experience, SplitMerge(rounds=0, contexts=0), turns=1)
    assert with_hope > 0
    assert not asked
