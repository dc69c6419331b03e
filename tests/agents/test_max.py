"""MAX: what it values is disagreement that data removes, and its search gets there."""

import numpy as np
import pytest

import efex
from efex.agents.ensemble import Ensemble, disagreement
from efex.agents.max import Max
from efex.agents.random import RandomAgent
from efex.errors import InvalidArgumentError
from efex.kernels.tree_search import tree_search
from efex.measures import steps_to_cover


def ensemble(n_states=6, **options):
    return Ensemble(8, n_states, 2, rng=np.random.default_rng(0), **{"prior": 0.1} | options)


def explored(world, agent, *, steps, seed=0):
    return efex.explore(world, steps=steps, seed=seed, agent=agent, progress=False)


def test_disagreement_is_the_jensen_shannon_divergence():
    one, two = np.array([0.5, 0.5, 0.0]), np.array([0.1, 0.2, 0.7])
    mean = (one + two) / 2
    divergence = (np.sum(one[:2] * np.log(one[:2] / mean[:2])) + np.sum(two * np.log(two / mean))) / 2
    assert disagreement(np.stack([one, two])) == pytest.approx(divergence, rel=1e-12)
    assert disagreement(np.stack([two, two])) == pytest.approx(0, abs=1e-12)
    assert disagreement(np.eye(3)) == pytest.approx(np.log(3), rel=1e-12)


def test_the_tables_hold_what_is_said_of_them():
    tables = ensemble()
    for state, action, target in np.random.default_rng(1).integers([6, 2, 6], size=(40, 3)).tolist():
        tables.add(state, action, target)
    predictions = tables.predictions()
    assert predictions.sum(axis=-1) == pytest.approx(1, rel=1e-12)
    assert tables.utility == pytest.approx(disagreement(predictions), rel=1e-12)
    assert np.diff(tables.cumulative, prepend=0) == pytest.approx(predictions.mean(axis=0), abs=1e-12)
    assert (tables.cumulative[..., -1] == 1).all()


def test_an_untried_pair_is_worth_most_and_a_sure_one_next_to_nothing():
    tables = ensemble()
    for _ in range(200):
        tables.add(2, 1, 3)
    worth_least = np.unravel_index(tables.utility.argmin(), tables.utility.shape)
    assert worth_least == (2, 1)
    assert tables.utility[2, 1] < 0.01
    tables.add(0, 0, 1)
    tried = np.zeros(tables.utility.shape, bool)
    tried[2, 1] = tried[0, 0] = True
    assert tables.utility[tried].max() < tables.utility[~tried].min()


def test_chance_is_no_lure_once_it_is_known():
    tables, rng = ensemble(), np.random.default_rng(1)
    worth = []
    for n in range(1, 2_001):
        tables.add(0, 0, int(rng.integers(2)))
        if n in (20, 200, 2_000):
            worth.append(float(tables.utility[0, 0]))
    assert worth[0] > worth[1] > worth[2]
    assert worth[2] < 0.001


def test_tables_grow_and_keep_what_they_learned():
    tables = ensemble(0)
    for n in range(1, 20):
        tables.make_room(n)
        for _ in range(50):
            tables.add(n - 1, 1, 0)
        assert len(tables.utility) > n
        assert tables.utility[:n, 1].max() < 0.1


def corridor(length):
    """Action 1 goes right and action 0 left, for sure."""
    cumulative = np.zeros((length, 2, length))
    for state in range(length):
        cumulative[state, 0, max(state - 1, 0) :] = 1
        cumulative[state, 1, min(state + 1, length - 1) :] = 1
    return cumulative


@pytest.mark.parametrize(("goal", "best"), [(0, 0), (14, 1)])
def test_the_search_finds_a_reward_several_steps_away(goal, best):
    reward = np.zeros((15, 2))
    reward[goal] = 1
    draws = np.random.default_rng(0).random((200, 20, 2))
    returns = tree_search(7, corridor(15), reward, np.ones((15, 2), bool), draws)
    assert returns.argmax() == best


def test_the_search_does_only_what_is_allowed():
    reward = np.zeros((3, 2))
    reward[2] = 1
    allowed = np.array([[True, True], [True, False], [True, True]])
    draws = np.random.default_rng(0).random((50, 10, 2))
    assert tree_search(0, corridor(3), reward, allowed, draws).tolist() == [0, 0]
    assert tree_search(1, corridor(3), reward, allowed, draws).tolist() == [0, -np.inf]


def test_it_respects_masks():
    agent, rng = Max(clones=1, warm_up=1, simulations=20), np.random.default_rng(3)
    agent.prepare(3, rng=np.random.default_rng(0))
    for _ in range(4):
        mask = rng.permutation([True, True, False])
        action = agent.begin(0, mask)
        for _ in range(20):
            assert mask[action]
            mask = rng.permutation([True, False, False])
            action = agent.act(int(rng.integers(5)), mask)
        agent.end(0)


def test_it_imagines_nothing_beyond_an_end():
    agent = Max(clones=1, warm_up=0, simulations=50)
    agent.prepare(2, rng=np.random.default_rng(0))
    agent.begin("start")
    agent.end("end", terminated=True)
    assert agent._allowed()[:2].tolist() == [[True, True], [False, False]]
    agent.begin("end")
    assert agent._allowed()[:2].all()


def test_the_same_seed_gives_the_same_actions():
    def actions(seed):
        return explored(efex.make("chain", length=8), Max(clones=1), steps=100, seed=seed).experience.actions.tolist()

    assert actions(0) == actions(0) != actions(1)


def test_it_covers_a_chain_sooner_than_a_random_walk():
    def episodes(agent, seed):
        world = efex.make("chain", length=10, seed=seed)
        covered = steps_to_cover(explored(world, agent, steps=30 * world.episode_steps, seed=seed), world)
        return np.ceil(covered / world.episode_steps)

    by_max = [episodes(Max(clones=1), seed) for seed in range(5)]
    at_random = [episodes(RandomAgent(clones=1), seed) for seed in range(5)]
    assert max(by_max) < np.inf
    assert np.median(by_max) < np.median(at_random)


@pytest.mark.parametrize("bad", [{"ensemble": 1}, {"prior": 0}, {"warm_up": -1}, {"horizon": 0}, {"simulations": 0}])
def test_settings_are_checked(bad):
    with pytest.raises(InvalidArgumentError, match=next(iter(bad))):
        Max(**bad)
