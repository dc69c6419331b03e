import gymnasium
import numpy as np
import pytest

import efex
from efex.adapters import from_functions
from efex.agents.closing import LATELY, closed_pairs, shut_pairs
from efex.model.layout import CloneLayout


def a_corridor(*, masked=False):
    """Three cells in a row, the last of which ends the episode; to the left of the first there is nothing."""
    at = {"cell": 0}

    def reset():
        at["cell"] = 0
        return "cell 0"

    def step(action):
        at["cell"] = max(at["cell"] + (1 if action == "right" else -1), 0)
        return f"cell {at['cell']}", at["cell"] == 2

    def available():
        return ["right"] if masked and at["cell"] == 0 else ["left", "right"]

    return from_functions(reset, step, ["left", "right"], mask=available)


@pytest.mark.parametrize("agent", ["efex", "random", "max"])
def test_whoever_explored_an_end_is_not_for_ever_untried(agent):
    run = efex.explore(a_corridor(), steps=200, agent=agent, seed=1, progress=False)
    (end,) = np.flatnonzero([symbol == "cell 2" for symbol in run.graph.symbols])
    assert run.graph.closed[end].all()
    assert not run.graph.untried[end].any()


@pytest.mark.parametrize("agent", ["efex", "random", "max"])
def test_whoever_explored_what_was_never_available_is_closed(agent):
    run = efex.explore(a_corridor(masked=True), steps=200, agent=agent, seed=1, progress=False)
    (first,) = np.flatnonzero([symbol == "cell 0" for symbol in run.graph.symbols])
    assert run.graph.closed[first].tolist() == [True, False]


def test_a_log_whose_episodes_end_for_good_says_so():
    walk = efex.Experience(2)
    for _ in range(20):
        walk.begin("cell 0")
        walk.append(1, "cell 1")
        walk.append(1, "cell 2")
        walk.terminate()
    graph = efex.learn(walk).graph
    assert graph.closed[list(graph.symbols).index("cell 2")].all()


def a_risky_ring():
    """A ring of five cells in which any step may be an episode's last."""
    at, chance = {"cell": 0}, np.random.default_rng(0)

    def reset():
        at["cell"] = 0
        return 0

    def step(action):
        at["cell"] = (at["cell"] + (1, 4)[action]) % 5
        return at["cell"], bool(chance.random() < 0.1)

    return from_functions(reset, step, 2)


@pytest.mark.parametrize("agent", ["efex", "random"])
def test_where_an_episode_ended_by_chance_one_can_still_go_on(agent):
    run = efex.explore(a_risky_ring(), steps=400, agent=agent, seed=1, progress=False)
    assert run.graph.n_nodes == 5
    assert not run.graph.closed.any()
    assert run.graph.plan(0, observation=2).expected_steps == pytest.approx(2, abs=0.01)


def test_what_was_available_once_is_not_closed():
    walk = efex.Experience.from_episodes([("aaa", [0, 0])], n_actions=3)
    layout = CloneLayout((1,))
    masks = {0: np.array([True, False, False]), 1: np.array([True, True, False]), 2: np.array([True, False, False])}
    assert closed_pairs(np.zeros(3, np.int64), layout, walk, masks).tolist() == [[False, False, True]]
    del masks[1]
    assert not closed_pairs(np.zeros(3, np.int64), layout, walk, masks).any()


def test_what_was_unavailable_of_late_is_shut_until_it_is_available_again():
    walk = efex.Experience.from_episodes([("abababa", [0] * 6)], n_actions=2)
    path, layout = np.array([0, 1] * 3 + [0]), CloneLayout((1, 1))
    both, first = np.array([True, True]), np.array([True, False])
    masks = {0: both, 1: first, 2: first, 3: first, 4: first}
    assert not shut_pairs(path, layout, walk, masks).any(), "at a it was unavailable twice, at b not at the last visit"
    masks |= {5: first, 6: first}
    assert LATELY == 3
    assert shut_pairs(path, layout, walk, masks).tolist() == [[False, True], [False, True]]
    assert closed_pairs(path, layout, walk, masks).tolist() == [[False, False], [False, True]]
    masks[6] = both
    assert shut_pairs(path, layout, walk, masks).tolist() == [[False, False], [False, True]]
    assert not shut_pairs(path, layout, walk, {}).any()
    now_and_then = {0: first, 2: first, 4: first}
    assert not shut_pairs(np.zeros(7, np.int64), CloneLayout((1,)), walk, now_and_then).any(), "in between, all was"


class Offering(gymnasium.Wrapper):
    """A world in which one action is unavailable at every node."""

    def _offering(self, observed, *rest):
        mask = np.arange(4) != self.unwrapped.node * 7 % 4
        return observed, *rest[:-1], rest[-1] | {"action_mask": mask}

    def reset(self, **how):
        return self._offering(*self.env.reset(**how))

    def step(self, action):
        return self._offering(*self.env.step(action))


@pytest.mark.parametrize("seed", [3, 5])
def test_places_that_look_alike_and_offer_different_actions_do_not_stop_an_agent(seed):
    world = efex.make("grid2d", size=6, unique_fraction=0.3, seed=seed, episode_steps=50)
    runs = {
        a: efex.explore(Offering(world), steps=1_500, seed=seed, agent=a, progress=False) for a in ("efex", "random")
    }
    visited = {agent: len(np.unique(run.true_nodes)) for agent, run in runs.items()}
    assert visited["efex"] >= visited["random"]
