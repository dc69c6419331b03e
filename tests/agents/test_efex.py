"""Algorithm 1: what it counts is what it decodes, in every cadence, and it explores where a random walk does not."""

import numpy as np
import pytest

import efex
from efex.agents import Efex
from efex.belief import Belief
from efex.measures import steps_to_cover
from efex.model.restarts import Warm


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"refit": "episode", "start": "warm"},
        {"refit": "step", "start": Warm(2)},
        {"refit": 7},
        {"refit": 130},
        {"start": "fresh"},
        {"method": "em+vb"},
        {"method": "em"},
        {"replan": 4},
        {"clones": "auto"},
        {"replan": 4, "clones": "auto"},
    ],
)
@pytest.mark.parametrize("episode_steps", [40, None])
@pytest.mark.parametrize("declared", [range(4), ()])
def test_the_belief_counts_exactly_what_is_decoded(options, episode_steps, declared):
    agent = Efex(**{"clones": 3} | options)
    world = efex.make("grid2d", size=3, unique_fraction=0.5, seed=2, episode_steps=episode_steps)
    agent.prepare(4, rng=np.random.default_rng(0), symbols=declared)
    observation, _ = world.reset(seed=0)
    action = agent.begin(observation)
    for _ in range(230):
        observation, _, _, truncated, _ = world.step(action)
        if truncated:
            agent.end(observation)
            observation, _ = world.reset()
            action = agent.begin(observation)
        else:
            action = agent.act(observation)
        path, actions = agent.recover().path, agent.experience.actions
        t = np.flatnonzero(actions >= 0)
        empty = Belief.empty(agent.belief.n_states, 4, prior=1.0)
        recounted = empty.updated(path[t], actions[t], path[t + 1])
        assert recounted.count.tolist() == agent.belief.count.tolist()
        assert recounted.target.tolist() == agent.belief.target.tolist()
        assert recounted.start.tolist() == agent.belief.start.tolist()


def test_the_first_clone_is_random():
    firsts = set()
    for seed in range(20):
        agent = Efex(clones=4)
        agent.prepare(2, rng=np.random.default_rng(seed), symbols=range(2))
        agent.begin(0)
        firsts.add(int(agent.recover().path[0]))
    assert len(firsts) > 1


def test_unaliased_it_does_plain_counting():
    world = efex.make("chain", length=12, seed=0)
    found = efex.explore(world, steps=210, agent="efex-paper", clones=1, progress=False)
    t = np.flatnonzero(found.experience.actions >= 0)
    steps = np.stack([found.true_nodes[t], found.experience.actions[t], found.true_nodes[t + 1]], axis=1)
    walked, counts = np.unique(steps, axis=0, return_counts=True)
    edges = sorted(
        (found.graph.observations[e.source], e.action, found.graph.observations[e.target], e.count)
        for e in found.graph.edges()
    )
    assert edges == [(*map(int, row), float(count)) for row, count in zip(walked, counts)]
    assert found.graph.difference(world.truth) is None


def test_it_covers_a_chain_in_the_papers_number_of_episodes():
    # Three of the seeds that `make verify` runs.
    episodes = []
    for seed in range(3):
        world = efex.make("chain", length=50, seed=seed)
        found = efex.explore(world, steps=59 * 14, seed=seed, agent="efex-paper", clones=1, progress=False)
        episodes.append(np.ceil(steps_to_cover(found, world) / world.episode_steps))
    assert max(episodes) <= 13


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.verify) for seed in (1, 2))])
def test_an_aliased_maze_is_recovered_exactly(seed):
    world = efex.make("sparse-maze", size=11, unique_fraction=0.4, seed=seed)
    found = efex.explore(world, steps=3_000, seed=seed, progress=False)
    assert efex.measures.weighted_coverage(found, world) == 1.0
    assert found.graph.difference(world.truth) is None
    assert found.graph.merge_equivalent().n_nodes == world.truth.merge_equivalent().n_nodes


def test_an_agent_used_again_starts_anew():
    agent, world = Efex(clones=3), efex.make("grid2d", size=4, unique_fraction=0.5, seed=0)
    first = efex.explore(world, steps=150, agent=agent, progress=False).experience.actions.tobytes()
    efex.explore(efex.make("chain", length=5), steps=30, agent=agent, progress=False)
    assert efex.explore(world, steps=150, agent=agent, progress=False).experience.actions.tobytes() == first


def test_growing_does_not_breed_states_for_noise():
    rng = np.random.default_rng(0)
    noise = efex.Experience.from_episodes([(rng.integers(0, 3, 500).tolist(), None) for _ in range(4)])
    assert efex.learn(noise, clones="auto").graph.n_nodes <= 4


@pytest.mark.filterwarnings("ignore:.*use all their clones")  # 15 for 25 nodes are too few
@pytest.mark.parametrize("fixed", [False, True])
def test_a_number_of_clones_is_the_most_there_may_be(fixed):
    world = efex.make("grid2d", size=5, unique_fraction=0.1, seed=0)
    agent = Efex(clones={symbol: 7 + symbol for symbol in world.truth.symbols}, fixed_clones=fixed)
    found = efex.explore(world, steps=600, agent=agent, progress=False)
    sizes = found.recovery.model.layout.sizes
    assert all(size <= 7 + symbol for symbol, size in zip(found.experience.alphabet.symbols, sizes))
    assert fixed == (sizes == tuple(7 + symbol for symbol in found.experience.alphabet.symbols)) or max(sizes) > 4
