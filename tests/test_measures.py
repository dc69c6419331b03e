"""The measures against their definitions, on the truth, and under the paper's degeneracies."""

import gymnasium
import numpy as np
import pytest

import efex
from efex.errors import InvalidArgumentError
from efex.measures import best_map_accuracy, expected_log_likelihood, precision, weighted_coverage
from graph.graph_examples import split

SMALL = {"walks": 10, "steps": 500}
WORLDS = ["grid2d", "grid3d", "icg", "dense-maze", "sparse-maze", "teleport-maze"]


@pytest.mark.parametrize("name", WORLDS)
def test_the_truth_itself_is_precise(name):
    world = efex.make(name, unique_fraction=0.1, seed=0)
    assert precision(world.truth, world) >= 0.999


def test_with_slip_the_truth_is_not_quite_precise():
    world = efex.make("grid2d", size=9, unique_fraction=0.1, slip=0.1, seed=0)
    assert 0.9 < precision(world.truth, world, walks=20, steps=1_000) < 1.0


def test_precision_is_the_accuracy_of_the_best_fixed_map():
    decoded = np.array([0, 0, 0, 1, 1, 2, -1])
    truth = np.array([5, 5, 3, 3, 3, 5, 5])
    assert best_map_accuracy(decoded, truth) == (2 + 2 + 1) / 7
    rng = np.random.default_rng(0)
    decoded, truth = rng.integers(-1, 6, 400), rng.integers(0, 9, 400)
    want = sum(max(((decoded == i) & (truth == j)).sum() for j in range(9)) for i in range(6)) / 400
    assert best_map_accuracy(decoded, truth) == want


def test_coverage_is_its_definition():
    world = efex.make("grid2d", size=4, unique_fraction=0.5, slip=0.2, seed=0)
    run = efex.explore(world, steps=150, agent="random", clones=2, progress=False)
    seen, covered = set(), 0.0
    t = np.flatnonzero(run.experience.actions >= 0)
    for k in t:
        edge = (run.true_nodes[k], run.experience.actions[k], run.true_nodes[k + 1])
        if edge not in seen:
            seen.add(edge)
            covered += world.truth.transition(edge[1])[edge[0], edge[2]]
    assert weighted_coverage(run, world) == pytest.approx(covered / (16 * 4))
    assert weighted_coverage(world.truth, world) == pytest.approx(1.0)


def test_likelihood_of_the_truth_is_its_entropy_rate():
    # One observation per node and no slip: after the first step nothing surprises.
    world = efex.make("grid2d", size=4, unique_fraction=1.0, seed=0)
    first = np.log(1 / 16)
    assert expected_log_likelihood(world.truth, world, walks=5, steps=100) == pytest.approx(first / 100)


def degenerate(truth):
    rng = np.random.default_rng(0)
    relabelled = truth.relabel(rng.permutation(truth.n_nodes))
    splitted = split(split(truth, 3), 7)
    return {"relabelled": relabelled, "split": splitted, "both": splitted.relabel(rng.permutation(splitted.n_nodes))}


@pytest.mark.parametrize("slip", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["relabelled", "split", "both"])
def test_degenerate_graphs_measure_the_same(kind, slip):
    world = efex.make("grid2d", size=5, unique_fraction=0.4, slip=slip, seed=1)
    other = degenerate(world.truth)[kind]
    likelihood = [expected_log_likelihood(g, world, **SMALL) for g in (world.truth, other)]
    # A split node is counted twice by the uniform start, which is one observation in five hundred.
    assert likelihood[0] == pytest.approx(likelihood[1], abs=1e-9 if kind == "relabelled" else 2e-3)
    precisions = [precision(g, world, **SMALL) for g in (world.truth, other)]
    assert precisions[0] == pytest.approx(precisions[1], abs=1e-12 if slip == 0 else 5e-3)
    assert other.merge_equivalent().n_nodes == world.truth.n_nodes
    assert other.difference(world.truth) is None


def test_no_recovered_model_beats_the_truth():
    world = efex.make("grid2d", size=5, unique_fraction=0.4, slip=0.1, seed=0)
    best = expected_log_likelihood(world.truth, world, walks=40, steps=1_000)
    for seed in range(2):
        run = efex.explore(world, steps=1_500, seed=seed, agent="efex-paper", clones=5, progress=False)
        # The walks are the same, so what is left of the sampling error is far below the gap.
        assert expected_log_likelihood(run, world, walks=40, steps=1_000) <= best + 1e-3


def test_likelihood_needs_no_truth():
    env = gymnasium.make("CliffWalking-v1")
    run = efex.explore(env, steps=400, agent="random", clones=1, episode_steps=50, progress=False)
    assert -10 < expected_log_likelihood(run, env, walks=2, steps=100) < 0
    with pytest.raises(InvalidArgumentError, match="truth"):
        precision(run, env)
    with pytest.raises(InvalidArgumentError, match="truth"):
        weighted_coverage(run, env)


def test_a_counted_graph_is_measured_like_a_run():
    world = efex.make("grid2d", size=4, unique_fraction=0.5, seed=0)
    run = efex.explore(world, steps=100, agent="random", clones=3, progress=False)
    assert 0 < precision(run.graph.merge_equivalent(), world, **SMALL) <= 1
    assert expected_log_likelihood(run.graph, world, **SMALL) < 0


def test_measures_see_what_the_agent_saw():
    world = efex.make("grid2d", size=4, unique_fraction=1.0, seed=0)
    named = gymnasium.wrappers.TransformObservation(world, lambda x: f"room {x}", gymnasium.spaces.Text(10))
    through_wrapper = efex.explore(named, steps=600, clones=1, progress=False)
    assert precision(through_wrapper, named, **SMALL) > 0.99
    assert expected_log_likelihood(through_wrapper, named, **SMALL) > -0.5
    observed = efex.explore(world, steps=600, clones=1, observe=lambda x: np.array([x, 1]), progress=False)
    assert precision(observed, world, **SMALL) > 0.99
    assert observed.decode([3, 3], [0]).tolist()[0] >= 0
    with pytest.raises(InvalidArgumentError, match="knows nothing"):
        precision(through_wrapper, world, **SMALL)


def test_a_symbol_never_seen_costs_its_escape_probability():
    world = efex.make("grid2d", size=4, unique_fraction=1.0, seed=0)
    known = world.truth.log_likelihood([0], [])
    assert world.truth.log_likelihood([0, "what is this"], [1]) == pytest.approx(known + np.log(1e-6))


def test_a_world_with_more_actions_than_the_map_is_refused():
    flat, deep = efex.make("grid2d", size=4, seed=0), efex.make("grid3d", size=3, seed=0)
    with pytest.raises(efex.EfexError, match="actions must be 0 to 3"):
        expected_log_likelihood(flat.truth, deep, walks=2, steps=50)
