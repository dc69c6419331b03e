"""What every world must hold, run on every world: with its defaults, and small with aliasing and slip."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy.sparse.csgraph import breadth_first_order

from efex.worlds import GraphWorld, make, register, world_names

NOISE = {"unique_fraction": 0.3, "slip": 0.25}
SMALL = {
    "chain": {"length": 6, "trap": True},
    "grid2d": {"size": 4, **NOISE},
    "grid3d": {"size": 3, **NOISE},
    "icg": {"grid": 3, "corridor": 1, **NOISE},
    "dense-maze": {"corridor": 1, **NOISE},
    "sparse-maze": {"size": 11, **NOISE},
    "teleport-maze": {"size": 11, **NOISE},
}
STANDARD_DEVIATIONS = 5.0


@pytest.fixture(params=world_names())
def name(request):
    return request.param


@pytest.fixture(params=["default", "small"])
def options(request, name):
    return SMALL[name] if request.param == "small" else {}


def same_truth(one, other):
    parts = ("source", "action", "target", "probability", "coordinates")
    return (
        one.observations == other.observations
        and one.starts == other.starts
        and all(np.array_equal(getattr(one, part), getattr(other, part)) for part in parts)
    )


def play(world, *, steps=150, seed=0, reset_seed=None):
    """Return every observation and node of random actions, episode after episode."""
    actions = np.random.default_rng(seed).integers(world.action_space.n, size=steps)
    observation, info = world.reset(seed=reset_seed)
    seen = [(observation, info["node"])]
    for action in actions.tolist():
        observation, reward, terminated, truncated, info = world.step(action)
        assert (reward, terminated) == (0.0, False)
        assert info["node"] == world.node
        seen.append((observation, info["node"]))
        if truncated:
            observation, info = world.reset()
            seen.append((observation, info["node"]))
    return seen


def deviation(truth, walked):
    """Return how many standard deviations the walked (source, action, target) are from the truth's rows."""
    counts = np.zeros((truth.n_actions, truth.n_nodes, truth.n_nodes))
    np.add.at(counts, (walked[:, 1], walked[:, 0], walked[:, 2]), 1)
    exact = np.stack([truth.transition(action).toarray() for action in range(truth.n_actions)])
    assert not counts[exact == 0].any()
    expected = exact * counts.sum(axis=2, keepdims=True)
    kept = (expected >= 5) & (exact < 1)
    if not kept.any():
        return 0.0
    # (count - expected)^2 / expected of a binomial count has mean 1 - p and variance about 2.
    excess = (counts - expected)[kept] ** 2 / expected[kept] - (1 - exact[kept])
    return float(excess.sum() / np.sqrt(2 * kept.sum()))


def walked_steps(nodes, actions):
    return np.stack([nodes[:, :-1], actions, nodes[:, 1:]], axis=-1).reshape(-1, 3)


def test_gymnasium_finds_nothing_wrong(name, options):
    check_env(make(name, **options))


def test_gymnasium_makes_it_by_id(name, options):
    register()
    register()
    world = gymnasium.make(f"efex/{name}-v0", seed=3, **options).unwrapped
    assert isinstance(world, GraphWorld)
    check_env(world)
    assert same_truth(world.truth, make(name, seed=3, **options).truth)


def test_rows_sum_to_one(name, options):
    truth = make(name, **options).truth
    for action in range(truth.n_actions):
        np.testing.assert_allclose(truth.transition(action).sum(axis=1), 1, rtol=0, atol=1e-12)


def test_every_node_is_reached_from_home(name, options):
    truth = make(name, **options).truth
    joined = sum(truth.transition(action) for action in range(truth.n_actions))
    assert len(breadth_first_order(joined, truth.starts[0])[0]) == truth.n_nodes
    assert truth.coordinates.shape[0] == truth.n_nodes


def test_spaces_fit_the_truth(name, options):
    world = make(name, **options)
    assert world.observation_space.n == len(set(world.truth.observations))
    assert set(world.truth.observations) == set(range(world.observation_space.n))
    assert world.action_space.n == world.truth.n_actions
    assert all(type(symbol) is int for symbol in world.truth.observations)


def test_the_seed_gives_the_same_world_and_walk(name, options):
    one, other = (make(name, seed=7, **options) for _ in range(2))
    assert same_truth(one.truth, other.truth)
    assert play(one) == play(other)


def test_observations_are_those_of_the_node(name, options):
    world = make(name, random_start=True, **options)
    assert all(observation == world.truth.observations[node] for observation, node in play(world))


def test_reset_seeds_the_dynamics_only(name):
    world = make(name, random_start=True, seed=1, **SMALL[name])
    truth = world.truth
    first, again, other = (play(world, reset_seed=seed) for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert world.truth is truth
    assert play(make(name, random_start=True, seed=1, **SMALL[name]), reset_seed=5) == first


def test_another_seed_gives_other_dynamics_without_a_reset_seed(name):
    walks = [play(make(name, random_start=True, seed=seed, **SMALL[name])) for seed in (0, 1)]
    assert [node for _, node in walks[0]] != [node for _, node in walks[1]]


def test_steps_follow_the_truth(name):
    world = make(name, episode_steps=None, seed=2, **SMALL[name])
    actions = np.random.default_rng(0).integers(world.truth.n_actions, size=20_000)
    nodes = [world.reset()[1]["node"]] + [world.step(action)[4]["node"] for action in actions.tolist()]
    assert abs(deviation(world.truth, walked_steps(np.array([nodes]), actions[None]))) < STANDARD_DEVIATIONS


def test_walks_follow_the_truth(name):
    world = make(name, seed=2, **SMALL[name])
    observations, actions, nodes = world.walks(200, 1000, seed=4)
    assert observations.shape == nodes.shape == (200, 1001)
    assert actions.shape == (200, 1000)
    assert np.array_equal(observations, np.array(world.truth.observations)[nodes])
    assert set(actions.ravel().tolist()) == set(range(world.truth.n_actions))
    assert abs(deviation(world.truth, walked_steps(nodes, actions))) < STANDARD_DEVIATIONS
    assert all(np.array_equal(a, b) for a, b in zip(world.walks(200, 1000, seed=4)[1:], (actions, nodes)))


def test_the_test_of_frequencies_catches_a_small_error():
    _, actions, nodes = make("grid2d", size=4, slip=0.25).walks(1000, 1000, seed=4)
    wrong = make("grid2d", size=4, slip=0.26).truth
    assert deviation(wrong, walked_steps(nodes, actions)) > STANDARD_DEVIATIONS


def test_episodes_end_and_begin_as_told(name):
    world = make(name, episode_steps=3, **SMALL[name])
    for _ in range(2):
        assert world.reset()[1]["node"] == world.truth.starts[0]
        assert [world.step(0)[3] for _ in range(3)] == [False, False, True]


def test_random_starts_are_uniform(name):
    world = make(name, random_start=True, **SMALL[name])
    n = world.truth.n_nodes
    assert world.truth.starts == tuple(range(n))
    counts = np.bincount([world.reset()[1]["node"] for _ in range(100 * n)], minlength=n)
    assert abs(((counts - 100) ** 2 / 100).sum() - (n - 1)) < STANDARD_DEVIATIONS * np.sqrt(2 * n)


def test_both_render_modes_show_the_agent(name, options):
    text = make(name, render_mode="ansi", **options)
    text.reset()
    assert text.render().count("@") == 1
    pixels = make(name, render_mode="rgb_array", **options)
    pixels.reset()
    before = pixels.render()
    assert before.dtype == np.uint8
    assert before.shape[2] == 3
    while pixels.node == pixels.truth.starts[0]:
        pixels.step(pixels.action_space.sample())
    assert not np.array_equal(before, pixels.render())
