import numpy as np
import pytest

import efex
from efex.adapters import from_functions
from efex.agents.closing import closed_pairs
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
