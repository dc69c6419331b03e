"""What studies store of a case is what happened: it is explored once more by itself, and counted by hand."""

from dataclasses import replace
from math import ceil

import pytest
from small import small_case

import efex
from efex.measures import expected_log_likelihood, precision
from efex.study.play import CURVE, play
from efex.study.study import load_study

OPTIONS = {"size": 3, "unique_fraction": 0.5, "slip": 0.1, "episode_steps": 4, "random_start": True}
CASE = replace(small_case(0), options=tuple(OPTIONS.items()), clones=3.0)


def explored(case, steps):
    """The case's world, and its first steps as they are explored without a study."""
    world = efex.make(case.world, seed=case.seed, **dict(case.options))
    clones = ceil(case.clones * world.truth.n_nodes / len(world.truth.symbols))
    return world, efex.explore(world, steps=steps, seed=case.seed, agent=case.agent, clones=clones, progress=False)


def walked(run):
    """Every (episode, node, action, next node) of a run, step by step."""
    episode, out = 1, []
    for t, action in enumerate(run.experience.actions.tolist()):
        if action >= 0:
            out.append((episode, int(run.true_nodes[t]), action, int(run.true_nodes[t + 1])))
        else:
            episode += 1
    return out


def coverages(world, run):
    """The share of the true edges' probability that was walked, after every step."""
    left = {(edge.source, edge.action, edge.target): edge.probability for edge in world.truth.edges()}
    total, gained, out = sum(left.values()), 0.0, []
    for _, *edge in walked(run):
        gained += left.pop(tuple(edge), 0.0)
        out.append(gained / total)
    return out


@pytest.mark.parametrize("agent", ["random", "efex"])
def test_the_three_measures_are_those_of_the_same_exploration_without_a_study(agent):
    case = replace(CASE, agent=agent, marks=(CASE.steps,))
    world, run = explored(case, case.steps)
    found = {
        "precision": precision(run, world),
        "log_likelihood": expected_log_likelihood(run, world),
        "coverage": coverages(world, run)[-1],
        "nodes": run.graph.n_nodes,
    }
    assert len({round(value, 2) for value in found.values()}) == 4, "alike, one could be taken for another"
    result = play(case)
    assert result["steps"] == [case.steps]
    assert {name: result[name] for name in found} == {
        name: [pytest.approx(value, abs=1e-5)] for name, value in found.items()
    }


@pytest.mark.parametrize(("seed", "left"), [(0, 3), (1, 0)])
def test_coverage_is_counted_in_steps_and_in_the_episodes_begun_until_then(seed, left):
    case = replace(CASE, steps=1_000, seed=seed)
    world, run = explored(case, case.steps)
    first = {}
    for step, (episode, *edge) in enumerate(walked(run), start=1):
        first.setdefault(tuple(edge), (step, episode))
    assert len(first) == world.truth.n_edges
    covered_steps, episodes = max(first.values())
    result = play(case)
    assert -covered_steps % 4 == left, "where coverage falls in an episode matters"
    assert 1 < episodes < run.experience.n_episodes
    assert (result["covered_steps"], result["covered_episodes"]) == (covered_steps, episodes)
    assert result["curve_steps"] == [case.steps * point // CURVE for point in range(1, CURVE + 1)]
    curve = coverages(world, run)
    assert result["curve_coverage"] == pytest.approx([curve[step - 1] for step in result["curve_steps"]], abs=1e-5)


def test_what_was_never_covered_has_no_steps_and_no_episodes():
    result = play(CASE)
    assert result["curve_coverage"][-1] < 1
    assert (result["covered_steps"], result["covered_episodes"]) == (None, None)


def test_the_scaling_study_counts_the_steps_until_all_was_tried_and_nearly_all_covered():
    case = replace(CASE, steps=1_000)
    world, run = explored(case, case.steps)
    first = {}
    for step, (_, node, action, _) in enumerate(walked(run), start=1):
        first.setdefault((node, action), step)
    assert len(first) == world.truth.n_nodes * world.truth.n_actions
    curve = coverages(world, run)
    covered_steps = next(step for step, share in enumerate(curve, start=1) if share >= 0.99)
    result = load_study("scaling").play(case)
    assert (result["tried_steps"], result["covered_steps"]) == (max(first.values()), covered_steps)
    assert result["truth_nodes"] == world.truth.n_nodes == 9


def test_the_scaling_study_measures_long_walks_and_short_ones_from_everywhere():
    case = replace(CASE, marks=(CASE.steps,))
    world, run = explored(case, case.steps)
    long, short = precision(run, world), precision(run, world, walks=10_000, steps=50)
    assert abs(long - short) > 1e-3, "alike, one could be taken for the other"
    result = load_study("scaling").play(case)
    assert (result["tried_steps"], result["covered_steps"]) == (None, None)
    assert (result["steps"], result["nodes"]) == ([case.steps], [run.graph.n_nodes])
    assert (result["precision"], result["everywhere"]) == (
        [pytest.approx(long, abs=1e-5)],
        [pytest.approx(short, abs=1e-5)],
    )
