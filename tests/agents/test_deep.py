"""The deep baselines: Q values come out right, rewards are what they are said to be, and a short chain is covered."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import efex
from efex.errors import EfexError, InvalidArgumentError
from efex.measures import steps_to_cover

pytest.importorskip("jax")
pytest.importorskip("optax")

from efex.agents.deep import Batch, BonusDqn, BootstrappedDqn, QLearner, Settings
from efex.agents.deep.replay import Replay

AGENTS = [BonusDqn, BootstrappedDqn]
SMALL = Settings(hidden=16, batch=32, updates=2)

# Three states, two actions: state, action, reward, state after, whether that ended the episode.
TOY = [(0, 0, 0.1, 0, 0), (0, 1, 0.0, 1, 0), (1, 0, 0.0, 0, 0), (1, 1, 0.5, 2, 0), (2, 0, 0.4, 2, 0), (2, 1, 1.0, 0, 1)]
DISCOUNT = 0.8


def toy_batch(*, allowed, heads=(True, True)):
    state, action, reward, after, ended = (np.tile(column, (1_000, 1)) for column in np.array(TOY).T)
    after = after.astype(np.int32)
    return Batch(
        state.astype(np.int32),
        action.astype(np.int32),
        reward.astype(np.float32),
        after,
        ended.astype(bool),
        allowed[after],
        np.broadcast_to(heads, (*after.shape, len(heads))),
    )


def toy_values(allowed):
    q = np.zeros((3, 2))
    for _ in range(200):
        best = np.where(allowed, q, -np.inf).max(axis=1)
        for s, a, reward, after, ended in TOY:
            q[s, a] = reward + (0 if ended else DISCOUNT * best[after])
    return q


def learner(*, prior=0.0):
    settings = Settings(hidden=16, discount=DISCOUNT, learning_rate=3e-3, sync=20)
    return QLearner(3, 2, heads=2, prior=prior, settings=settings, rng=np.random.default_rng(0))


def values(trained):
    return np.stack([trained.values(state) for state in range(3)], axis=1)


@pytest.mark.parametrize("closed", [None, (2, 0)])
@pytest.mark.parametrize("prior", [0.0, 3.0])
def test_the_q_values_of_a_known_problem(closed, prior):
    allowed = np.ones((3, 2), bool)
    if closed is not None:
        allowed[closed] = False
    trained = learner(prior=prior)
    for _ in range(3):
        trained.update(toy_batch(allowed=allowed))
    assert values(trained) == pytest.approx(np.stack([toy_values(allowed)] * 2), abs=0.02)


def test_a_head_that_does_not_learn_stays_as_it_is():
    trained = learner()
    before = values(trained)
    trained.update(toy_batch(allowed=np.ones((3, 2), bool), heads=(True, False)))
    after = values(trained)
    assert (after[1] == before[1]).all()
    assert (after[0] != before[0]).all()


def test_new_states_change_nothing_about_the_old():
    trained, allowed = learner(prior=1.0), np.ones((3, 2), bool)
    trained.update(toy_batch(allowed=allowed))
    before, room = values(trained), trained.room
    trained.make_room(room)
    assert trained.room == room
    trained.make_room(room + 1)
    assert trained.room == 2 * room
    assert values(trained) == pytest.approx(before)
    assert np.isfinite(trained.values(room)).all()
    assert np.isfinite(trained.update(toy_batch(allowed=allowed)))


def test_a_replay_forgets_nothing():
    replay, rng = Replay(2, heads=1), np.random.default_rng(0)
    for k in range(3_000):
        replay.add(k, k % 2, k + 1, ended=k % 3 == 0, allowed=np.array([True, k % 2 == 0]), heads=np.ones(1, bool))
    rows = replay.draw((10, 2_000), rng=rng)
    assert len(replay) == 3_000
    assert len(np.unique(rows["state"])) > 2_900
    assert (rows["after"] == rows["state"] + 1).all()
    assert (rows["ended"] == (rows["state"] % 3 == 0)).all()
    assert (rows["allowed"][..., 1] == (rows["action"] == 0)).all()


def explored(agent, *, length=5, steps=60, seed=0):
    world = efex.make("chain", length=length, seed=seed)
    return efex.explore(world, steps=steps, seed=seed, agent=agent, progress=False), world


def test_the_bonus_falls_with_the_count():
    agent = BonusDqn(clones=1, settings=SMALL)
    found, _ = explored(agent)
    t = np.flatnonzero(found.experience.actions >= 0)
    states, actions = found.experience.observations[t], found.experience.actions[t]
    counts = np.array([np.sum((states == s) & (actions == a)) for s, a in zip(states, actions)])
    assert counts.max() > counts.min()
    assert agent.rewards(states, actions) == pytest.approx(counts**-0.5)


def test_heads_differ_and_an_episode_follows_one():
    agent = BootstrappedDqn(clones=1, settings=SMALL)
    agent.prepare(2, rng=np.random.default_rng(0), symbols=range(3))
    assert len(np.unique(agent.learner.values(0)[:, 0])) == agent.heads
    followed = []
    for _ in range(12):
        heads = set()
        agent.begin(0)
        for _ in range(4):
            heads.add(agent.head)
            action = agent.act(1)
            assert action == agent.learner.values(1)[agent.head].argmax()
        agent.end(2)
        followed.append(heads)
    assert all(len(heads) == 1 for heads in followed)
    assert len(set.union(*followed)) > 1
    learning = agent.replay.draw((1, 2_000), rng=np.random.default_rng(0))["heads"]
    assert 0.3 < learning.mean() < 0.7


def test_in_an_endless_episode_heads_take_turns():
    agent = BootstrappedDqn(clones=1, settings=SMALL)
    agent.prepare(2, rng=np.random.default_rng(0), symbols=range(2))
    agent.begin(0)
    heads = [(agent.act(k % 2), agent.head)[1] for k in range(500)]
    assert len(set(heads[:99])) == 1
    assert len(set(heads)) > 1


class Corridor(gymnasium.Env):
    """Five cells in a row; a step off the left end is not available, and the last cell ends the episode."""

    observation_space = gymnasium.spaces.Discrete(5)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.cell = 1
        return self.cell, {"action_mask": np.ones(2, np.int8)}

    def step(self, action):
        self.cell += (-1, 1)[action]
        assert self.cell >= 0, "took an action that was not available"
        return self.cell, 0.0, self.cell == 4, False, {"action_mask": np.array([self.cell > 0, 1], np.int8)}


@pytest.mark.parametrize("kind", AGENTS)
def test_a_masked_action_is_never_taken_and_an_end_is_one(kind):
    agent = kind(clones=1, settings=SMALL)
    found = efex.explore(Corridor(), steps=200, agent=agent, episode_steps=15, progress=False)
    assert found.graph.n_nodes == 5
    rows = agent.replay.draw((1, 3_000), rng=np.random.default_rng(0))
    assert (rows["ended"] == (rows["after"] == 4)).all()
    assert (rows["allowed"][..., 0] == (rows["after"] > 0)).all()


@pytest.mark.parametrize("kind", AGENTS)
def test_the_same_seed_gives_the_same_actions(kind):
    runs = [explored(kind(clones=1, settings=SMALL), seed=seed)[0] for seed in (0, 0, 1)]
    one, two, other = (run.experience.actions.tobytes() for run in runs)
    assert one == two
    assert one != other


@pytest.mark.parametrize("kind", AGENTS)
def test_an_agent_used_again_starts_anew(kind):
    agent = kind(clones=1, settings=SMALL)
    first = explored(agent)[0].experience.actions.tobytes()
    assert explored(agent)[0].experience.actions.tobytes() == first


@pytest.mark.parametrize("kind", AGENTS)
def test_a_short_chain_is_covered_and_mapped(kind):
    found, world = explored(kind(clones=1, settings=SMALL), length=6, steps=15 * 60)
    assert steps_to_cover(found, world) < np.inf
    assert found.graph.difference(world.truth) is None


@pytest.mark.parametrize("kind", AGENTS)
def test_states_that_nobody_declared_find_room(kind):
    names = gymnasium.wrappers.TransformObservation(
        efex.make("chain", length=60, seed=0, random_start=True), lambda x: f"room {x}", gymnasium.spaces.Text(10)
    )
    agent = kind(clones=1, settings=SMALL)
    efex.explore(names, steps=150, episode_steps=3, agent=agent, progress=False)
    assert len(agent.experience.alphabet) > 32
    assert agent.learner.room == 64


def test_settings_are_checked():
    for bad in ({"hidden": 0}, {"batch": 0.5}, {"updates": 0}, {"sync": 0}, {"discount": 1.0}, {"learning_rate": 0}):
        with pytest.raises(InvalidArgumentError, match=next(iter(bad))):
            Settings(**bad)
    for bad in ({"heads": 0}, {"prior": -1.0}, {"prior": float("nan")}, {"share": 0.0}, {"epsilon": 1.0}):
        with pytest.raises(InvalidArgumentError, match=next(iter(bad))):
            BootstrappedDqn(**bad)


@pytest.mark.parametrize("missing", ["jax", "optax"])
def test_without_jax_it_says_what_to_install(missing, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("efex.agents.deep")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(EfexError, match=r"pip install \"efex\[deep\]\""):
        __import__("efex.agents.deep")


def test_efex_itself_does_not_need_jax():
    code = "import sys, efex; assert not {'jax', 'optax'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
