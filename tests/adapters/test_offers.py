"""Which actions are available tells places apart, and the map shows observations all the same."""

import numpy as np
import pytest

import efex
from efex.adapters import AgentView, from_functions
from efex.symbols import decode_symbol, encode_symbol, offering, shown_by

ACTIONS = ["left", "right", "up", "down"]


def a_tower():
    """Three floors of five cells, joined by a lift in the middle: all but the lift, the exit and a pit look alike."""
    at = {"floor": 1, "cell": 0}

    def seen():
        return {(0, 4): "exit", (2, 0): "pit"}.get((at["floor"], at["cell"]), "lift" if at["cell"] == 2 else "hall")

    def reset():
        at.update(floor=1, cell=0)
        return seen()

    def step(action):
        at["cell"] += {"left": -1, "right": 1}.get(action, 0)
        at["floor"] += {"down": -1, "up": 1}.get(action, 0)
        return seen(), seen() == "pit"

    def available():
        floor, cell = at["floor"], at["cell"]
        ways = (cell > 0, cell < 4, cell == 2 and floor < 2, cell == 2 and floor > 0)
        return [action for action, is_open in zip(ACTIONS, ways) if is_open]

    return from_functions(reset, step, ACTIONS, mask=available)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_tower_whose_cells_look_alike_is_mapped_by_what_they_offer(seed):
    run = efex.explore(a_tower(), steps=1_500, episode_steps=80, seed=seed, progress=False)
    assert run.graph.n_nodes == 15
    assert set(run.graph.symbols) == {"hall", "lift", "exit", "pit"}
    assert set(run.first_order.symbols) == set(run.graph.symbols)
    assert run.summary()["untried_pairs"] == 0
    (start,) = run.graph.starts
    plan = run.graph.plan(start, observation="exit")
    assert [ACTIONS[action] for action in plan.actions] == ["right", "right", "down", "right", "right"]
    assert (run.decode_all(run.experience) >= 0).all()


def test_a_navigator_finds_its_way_where_not_all_is_available():
    run = efex.explore(a_tower(), steps=1_500, episode_steps=80, seed=1, progress=False)
    assert efex.Navigator(run.graph).travel(a_tower(), observation="exit", limit=60) is not None


def test_a_run_that_was_masked_is_kept_and_loaded(tmp_path):
    run = efex.explore(a_tower(), steps=200, episode_steps=80, seed=1, folder=tmp_path, progress=False)
    again = efex.load(tmp_path)
    assert again.experience.symbols == run.experience.symbols
    assert again.graph.observations == run.graph.observations


def test_where_everything_is_available_nothing_is_said_of_it():
    view = AgentView(efex.make("chain", length=5))
    moment = view.reset(seed=0)
    assert moment.symbol == moment.observation


def test_an_offer_is_a_symbol_like_any_other():
    symbol = offering(("a", 1), np.array([0, 2]).tolist())
    assert decode_symbol(encode_symbol(symbol)) == symbol
    assert shown_by(symbol) == ("a", 1)
    assert shown_by(("a", 1)) == ("a", 1)
    assert shown_by("a") == "a"
