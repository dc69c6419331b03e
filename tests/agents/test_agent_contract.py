"""What every agent owes: it plays by the rules, the same seed gives the same run, and it comes up with a map."""

from functools import cache

import gymnasium
import numpy as np
import pytest

import efex
from efex.agents import AGENTS, Efex, EfexPaper, RandomAgent, make_agent
from efex.errors import EfexError, InvalidArgumentError
from efex.randomness import stream

AGENT_NAMES = sorted(AGENTS)


def world(**options):
    return efex.make("grid2d", size=4, unique_fraction=0.5, seed=1, **options)


def run(name, *, steps=320, seed=0, **options):
    return efex.explore(world(**options), steps=steps, seed=seed, agent=name, clones=4, progress=False)


@cache
def first_run(name):
    return run(name, steps=160)


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_the_same_seed_gives_the_same_run(name):
    one, two, other = first_run(name), run(name, steps=160), run(name, seed=1, steps=100)
    assert one.experience.actions.tobytes() == two.experience.actions.tobytes()
    assert one.experience.observations.tobytes() == two.experience.observations.tobytes()
    assert one.recovery.path.tobytes() == two.recovery.path.tobytes()
    assert one.recovery.model.counts.tobytes() == two.recovery.model.counts.tobytes()
    assert one.experience.actions[:100].tobytes() != other.experience.actions[:100].tobytes()


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_the_map_explains_the_experience(name):
    found = first_run(name)
    graph, experience = found.graph, found.experience
    assert experience.n_steps == 160
    assert [graph.observations[node] for node in found.nodes] == experience.symbols
    assert graph.count.sum() == experience.n_steps
    walked = set(zip(graph.source, graph.action, graph.target))
    t = np.flatnonzero(experience.actions >= 0)
    assert all((found.nodes[k], experience.actions[k], found.nodes[k + 1]) in walked for k in t)


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_an_endless_episode_is_explored_too(name):
    found = run(name, episode_steps=None)
    assert found.experience.n_episodes == 1
    assert found.graph.n_nodes >= 8


class Masked(gymnasium.Env):
    """A corridor of five cells in which a step off the end is not available."""

    observation_space = gymnasium.spaces.Discrete(5)
    action_space = gymnasium.spaces.Discrete(2)

    steps = 0

    def _see(self):
        # At the end of an episode nothing is available, as in many games.
        mask = [0, 0] if self.steps == 20 else [self.cell > 0, self.cell < 4]
        return self.cell, {"action_mask": np.array(mask, np.int8)}

    def reset(self, *, seed=None, options=None):
        self.cell, self.steps = 2, 0
        return self._see()

    def step(self, action):
        self.cell += (-1, 1)[action]
        self.steps += 1
        assert 0 <= self.cell <= 4, "took an action that was not available"
        observation, info = self._see()
        return observation, 0.0, False, self.steps == 20, info


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_masked_action_is_never_taken(name):
    found = efex.explore(Masked(), steps=200, agent=name, clones=1, progress=False)
    assert found.graph.n_nodes == 5


def test_an_action_that_is_not_available_is_not_untried():
    agent = Efex(clones=1)
    efex.explore(Masked(), steps=200, agent=agent, progress=False)
    gain = agent.belief.information_gain.reshape(5, 2)
    assert gain[0, 0] == gain[4, 1] == 0
    assert agent.belief.closed.reshape(5, 2).sum() == 2


class Ending(gymnasium.Env):
    """Three cells in a row; the last one ends the episode."""

    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.cell = 0
        return 0, {}

    def step(self, action):
        self.cell = max(0, self.cell + (-1, 1)[action])
        return self.cell, 0.0, self.cell == 2, False, {}


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_the_place_where_episodes_end_is_on_the_map(name):
    found = efex.explore(Ending(), steps=120, agent=name, clones=1, progress=False)
    assert found.graph.n_nodes == 3
    end = found.graph.observations.index(2)
    assert not found.graph.tried[end].any()


def test_an_end_holds_nothing_to_learn():
    for steps in (3, 20, 60):
        agent = Efex(clones=1)
        found = efex.explore(Ending(), steps=steps, agent=agent, progress=False)
        if len(found.experience.terminated):
            assert (agent.belief.information_gain.reshape(-1, 2)[2] == 0).all()
            assert not found.graph.untried[found.graph.observations.index(2)].any()


@pytest.mark.parametrize("clones", [1, "auto"])
def test_ends_do_not_keep_it_from_the_rest(clones):
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    found = efex.explore(lake, steps=1_500, clones=clones, progress=False)
    assert set(found.graph.symbols) == set(range(16))
    # Every cell that is not a hole or the goal was tried in every direction.
    assert not found.graph.untried.any()


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_an_alphabet_that_nobody_declared_grows(name):
    inner = world()
    names = gymnasium.wrappers.TransformObservation(inner, lambda x: f"room {x}", gymnasium.spaces.Text(10))
    found = efex.explore(names, steps=320, agent=name, clones=4, progress=False)
    assert set(found.graph.symbols) <= {f"room {x}" for x in range(8)}
    assert found.decode(["room 0", "nowhere"], [0])[1] == -1


def test_acting_before_beginning_is_refused():
    agent = RandomAgent(clones=1)
    agent.prepare(2, rng=stream(0, "agent"))
    with pytest.raises(EfexError, match="begin"):
        agent.act(0)


def test_names_and_settings_are_checked():
    with pytest.raises(InvalidArgumentError, match="efex-paper"):
        make_agent("efex-papre", clones=2)
    with pytest.raises(InvalidArgumentError, match="clones"):
        make_agent("efex-paper", clones="auto")
    for bad in (
        {"start": "hot"},
        {"refit": 0},
        {"refit": "day"},
        {"replan": 0},
        {"replan": float("nan")},
        {"discount": 1.0},
        {"discount": float("nan")},
        {"prior": -1.0},
        {"pseudocount": 0.0},
        {"method": "gradient"},
    ):
        with pytest.raises(InvalidArgumentError):
            Efex(clones=2, **bad)
    with pytest.raises(InvalidArgumentError, match="start"):
        EfexPaper(clones=2, start="rivals")
    with pytest.raises(InvalidArgumentError, match="refit"):
        EfexPaper(clones=2, refit=3)
    with pytest.raises(InvalidArgumentError, match="iterations"):
        EfexPaper(clones=2, iterations=0)
    with pytest.raises(InvalidArgumentError, match="agent itself"):
        make_agent(Efex(clones=2), clones=7)
    with pytest.raises(InvalidArgumentError, match="agent must be"):
        make_agent(["efex"], clones=7)


class Door(gymnasium.Env):
    """Two rooms with a door between them that is open every other time; a lever does nothing."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        self.room, self.steps = 0, 0
        return self._seen()

    def step(self, action):
        self.room, self.steps = (1 - self.room if action == 0 else self.room), self.steps + 1
        seen, info = self._seen()
        return seen, 0.0, False, False, info

    def _seen(self):
        return self.room, {"action_mask": np.array([self.steps % 2, 1, 0], np.int8)}


def test_what_is_open_now_and_then_is_not_closed():
    run = efex.explore(Door(), steps=100, clones=1, progress=False)
    assert run.graph.closed.tolist() == [[False, False, True]] * 2
    assert run.graph.plan(0, to=1).expected_steps == 1.0
