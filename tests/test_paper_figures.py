"""The long proofs, run by `make verify`: the paper's figures, with the seeds and settings stated."""

import math

import numpy as np
import pytest

import efex
from efex.measures import expected_log_likelihood, precision, steps_to_cover, weighted_coverage

# That an agent ran out of clones is part of what is shown here.
pytestmark = [pytest.mark.verify, pytest.mark.filterwarnings("ignore:.*use all their clones")]


@pytest.mark.parametrize(("trap", "bar"), [(False, 12), (True, 13)])
def test_chain_of_fifty(trap, bar):
    episodes = []
    for seed in range(20):
        world = efex.make("chain", length=50, trap=trap, seed=seed)
        run = efex.explore(world, steps=59 * 30, seed=seed, agent="efex-paper", clones=1, progress=False)
        episodes.append(np.ceil(steps_to_cover(run, world) / world.episode_steps))
    low, median, high = np.min(episodes), np.median(episodes), np.max(episodes)
    print(f"\nchain, trap={trap}: median {median:g} episodes ({low:g} to {high:g}), 20 seeds")
    assert median <= bar


@pytest.mark.parametrize(("unique_fraction", "steps"), [(0.1, 20_000), (0.3, 10_000)])
def test_grid_by_the_papers_agent_and_by_a_random_walk(unique_fraction, steps):
    found: dict[str, list[float]] = {"efex-paper": [], "random": []}
    for seed in range(5):
        world = efex.make("grid2d", unique_fraction=unique_fraction, seed=seed)
        clones = math.ceil(2 * world.truth.n_nodes / len(world.truth.symbols))
        best = expected_log_likelihood(world.truth, world)
        for agent, precisions in found.items():
            run = efex.explore(world, steps=steps, seed=seed, agent=agent, clones=clones, progress=False)
            precisions.append(precision(run, world))
            likelihood = expected_log_likelihood(run, world)
            print(
                f"\ngrid2d uf {unique_fraction} seed {seed} {agent}: precision {precisions[-1]:.4f} "
                f"coverage {weighted_coverage(run, world):.4f} nodes {run.graph.n_nodes} "
                f"log-likelihood {likelihood:.4f} (truth {best:.4f})"
            )
            assert likelihood <= best + 1e-3
    means = {agent: np.mean(precisions) for agent, precisions in found.items()}
    print(f"\ngrid2d uf {unique_fraction}, {steps} steps, mean precision of 5 seeds: {means}")
    assert means["efex-paper"] >= 0.93
    assert means["efex-paper"] >= means["random"] + 0.2


@pytest.mark.parametrize("name", ["grid2d", "grid3d", "icg", "dense-maze", "sparse-maze"])
def test_the_truth_is_precise_on_every_seed(name):
    for seed in range(10):
        for unique_fraction in (0.1, 0.3, 1.0):
            world = efex.make(name, unique_fraction=unique_fraction, seed=seed)
            assert precision(world.truth, world) >= 0.999


def test_where_the_literal_algorithm_stalls_and_the_default_does_not():
    # Seeds 0 to 4 were looked at while the default was chosen; these were not.
    found: dict[str, list[float]] = {"efex-paper, warm": [], "efex-paper, fresh": [], "efex": []}
    for seed in range(10, 15):
        world = efex.make("sparse-maze", unique_fraction=0.3, seed=seed)
        clones = math.ceil(2 * world.truth.n_nodes / len(world.truth.symbols))
        agents: dict[str, efex.agents.Agent] = {
            "efex-paper, warm": efex.agents.EfexPaper(clones=clones, start="warm"),
            "efex-paper, fresh": efex.agents.EfexPaper(clones=clones, start="fresh"),
            "efex": efex.agents.Efex(),  # is not told how many clones the truth would need
        }
        for name, agent in agents.items():
            run = efex.explore(world, steps=10_000, seed=seed, agent=agent, progress=False)
            found[name].append(precision(run, world))
    for name, precisions in found.items():
        print(f"\nsparse-maze uf 0.3, 10,000 steps, {name}: {np.round(precisions, 4)}")
    assert np.median(found["efex"]) >= 0.99
    assert np.median(found["efex"]) > np.median(found["efex-paper, warm"])
