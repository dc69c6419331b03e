import gymnasium
import numpy as np
import pytest

import efex
from efex.agents import Efex
from efex.experience import Experience
from efex.model.chance import left_to_chance
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import WEIGHTS, marginal_likelihood, weighed
from efex.model.naming import numbered
from efex.model.transitions import places_of
from efex.model.viterbi_training import from_path


def a_slippery_lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=True)


@pytest.mark.parametrize("seed", [40, 41])
def test_a_slippery_lake_has_a_node_for_every_tile(seed):
    run = efex.explore(a_slippery_lake(), steps=600, seed=seed, progress=False)
    assert run.graph.n_nodes == len(np.unique(run.experience.observations))
    assert 14 <= run.graph.n_nodes <= 16


def test_without_chance_the_same_lake_seems_to_hide_many_places():
    run = efex.explore(a_slippery_lake(), steps=600, seed=41, agent=Efex(start="chanceless"), progress=False)
    assert run.graph.n_nodes > 20


def test_a_log_of_a_slippery_lake_is_learned_as_it_is():
    walk = efex.explore(a_slippery_lake(), steps=1_000, agent="random", seed=1, progress=False)
    assert walk.graph.n_nodes == len(np.unique(walk.experience.observations))


@pytest.mark.parametrize("slip", [0.1, 0.3])
def test_a_slippery_grid_whose_cells_all_differ_has_hardly_a_duplicate(slip):
    world = efex.make("grid2d", size=5, unique_fraction=1.0, slip=slip, seed=3)
    run = efex.explore(world, steps=1_500, seed=3, progress=False)
    assert 25 <= run.graph.n_nodes <= 27
    assert efex.measures.precision(run, world) == 1.0


def test_what_is_certain_and_hidden_is_not_left_to_chance():
    world = efex.make("grid2d", size=5, unique_fraction=0.3, seed=4)
    run = efex.explore(world, steps=600, seed=4, progress=False)
    assert run.graph.difference(world.unwrapped.truth) is None
    model, path = run.recovery.model, run.recovery.path
    assert left_to_chance(model, path, run.experience) is model


def test_the_weight_that_suits_a_path_is_the_best_of_those_there_are():
    walk = efex.explore(a_slippery_lake(), steps=300, agent="random", seed=2, progress=False).experience
    shown = walk.observations.astype(np.int64)
    scores = {times: marginal_likelihood(shown, walk, weight=0.1 * times) for times in WEIGHTS}
    weight, score = weighed(shown, walk, least=0.1)
    assert weight == pytest.approx(0.1 * max(scores, key=scores.get))
    assert score == pytest.approx(max(scores.values()))
    assert weight > 0.1


def every_moment_a_place(walk):
    """Return the model, and its path, in which nothing is ever seen twice."""
    places = places_of(np.arange(len(walk)), walk)
    layout = CloneLayout(tuple(np.bincount(places.observation).tolist()))
    path = numbered(places, layout)
    return from_path(Model.empty(walk, layout, pseudocount=0.1 / layout.n_states), walk, path), path


@pytest.mark.parametrize(("steps", "is_taken"), [(9, False), (10, True), (200, True)])
def test_chance_is_thought_of_once_everything_was_tried_a_few_times(steps, is_taken):
    coins = np.random.default_rng(0).integers(0, 2, steps + 1).tolist()
    walk = Experience.from_episodes([(coins, None)])
    model, path = every_moment_a_place(walk)
    left = left_to_chance(model, path, walk)
    assert (left is not model) == is_taken
    if is_taken:
        assert len(np.unique(left.decode(walk).path)) == 2
        assert left.pseudocount > model.pseudocount


def test_a_tie_is_not_chance():
    walk = Experience.from_episodes([([0, 1] * 20, None)])
    layout, path = CloneLayout((1, 1)), np.tile([0, 1], 20)
    model = from_path(Model.empty(walk, layout, pseudocount=0.05), walk, path)
    assert left_to_chance(model, path, walk) is model
