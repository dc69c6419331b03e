"""Where the agent may be: what actions are worth and tell if it does not know."""

import numpy as np
import pytest

import efex
from efex.agents import Efex
from efex.agents.cadence import Cadence
from efex.agents.whereabouts import EXPECTED, LEAST, Whereabouts
from efex.belief import Belief
from efex.errors import InvalidArgumentError
from efex.model.layout import CloneLayout
from efex.model.split_merge import SplitMerge
from efex.planning import policy_iteration

LAYOUT = CloneLayout((3, 2))


@pytest.fixture
def belief():
    # From state 0 action 0 leads to observation 1, from state 1 to observation 0, at state 2 nothing was tried.
    steps = np.array([[0, 0, 3], [0, 0, 3], [0, 1, 1], [1, 0, 2], [1, 1, 1], [3, 0, 0]])
    return Belief.empty(5, 2, prior=0.02).updated(*steps.T)


def entropy(p):
    return -(p[p > 0] * np.log(p[p > 0])).sum()


def test_what_an_action_tells_is_the_mutual_information_of_place_and_sight(belief):
    may_be = Whereabouts(np.array([0, 1, 2]), np.array([0.5, 0.3, 0.2]))
    told = may_be.telling(belief, LAYOUT)
    for action in range(2):
        seen = np.zeros((3, 2))
        edges = np.full(2, 0.5)  # one edge's worth, spread evenly
        for state in range(3):
            targets = belief.targets(state, action)
            np.add.at(edges, LAYOUT.observation[targets], 1.0)
            row = state * 2 + action
            np.add.at(seen[state], LAYOUT.observation[targets], belief.count[belief.start[row] : belief.start[row + 1]])
        seen += EXPECTED * edges / edges.sum()
        seen /= seen.sum(axis=1, keepdims=True)
        information = entropy(may_be.chance @ seen) - may_be.chance @ [entropy(row) for row in seen]
        assert told[action] == pytest.approx(information)
    assert told[0] > told[1]  # what 0 and 1 agree on tells less


def test_who_knows_where_it_is_learns_nothing_about_it(belief):
    here = Whereabouts(np.array([1]), np.ones(1))
    assert here.is_known
    assert here.telling(belief, LAYOUT) == pytest.approx(0)


def test_an_action_is_worth_what_it_is_worth_on_average(belief):
    plan = policy_iteration(belief, discount=0.99, relative=np.zeros(5))
    may_be = Whereabouts(np.array([0, 2]), np.array([0.25, 0.75]))
    expected = 0.25 * plan.action_values(0) + 0.75 * plan.action_values(2)
    assert may_be.action_values(plan) == pytest.approx(expected)


def test_what_is_hardly_possible_is_left_out():
    may_be = Whereabouts.of_chances(np.array([3.0, LEAST, 1.0]), first=4)
    assert may_be.states.tolist() == [4, 6]
    assert may_be.chance.tolist() == [0.75, 0.25]


def test_a_walk_from_anywhere_is_unsure_until_something_tells():
    world = efex.make("grid2d", size=4, unique_fraction=0.3, seed=1)
    agent = Efex(clones=8)
    efex.explore(world, steps=3_000, agent=agent, seed=1, progress=False)
    tracker = agent._ledger._tracker
    assert tracker.whereabouts.chance.sum() == pytest.approx(1)
    assert int(tracker.path[-1]) == tracker.whereabouts.states[tracker.whereabouts.chance.argmax()]
    assert (agent._learner.layout.observation[tracker.whereabouts.states] == agent.experience.observations[-1]).all()


def test_a_surprise_makes_a_brief_refit_due():
    empty = Belief.empty(2, 1, prior=0.1)
    cadence = Cadence(every=25, growth=0.0, patient=True, prompt=3)
    cadence.reset()
    assert [cadence.is_prompted(surprised=t == 0) for t in range(4)] == [False, False, True, True]
    cadence.refitted(empty, brief=True)
    assert not any(cadence.is_prompted(surprised=False) for _ in range(5))
    assert cadence.is_prompted(surprised=True)
    never = Cadence(every=25, growth=0.0, patient=True, prompt=0)
    never.reset()
    assert not any(never.is_prompted(surprised=True) for _ in range(5))


def test_only_a_restart_that_can_be_brief_is_prompted():
    assert Efex().cadence.prompt == 5
    assert Efex(start="warm").cadence.prompt == 0  # a brief refit would be a whole one


@pytest.mark.parametrize("place", ["2", float("nan"), float("inf"), True])
def test_the_odds_must_be_a_number(place):
    with pytest.raises(InvalidArgumentError, match="place must be a finite number"):
        SplitMerge(place=place)


@pytest.mark.parametrize("settings", [{"hedged": 1}, {"prompt": -1}, {"prompt": 2.5}, {"hedged": None}])
def test_settings_must_make_sense(settings):
    with pytest.raises(InvalidArgumentError):
        Efex(**settings)


@pytest.mark.verify
def test_an_unaliased_world_is_recovered_in_hardly_more_steps_than_a_tour_takes():
    for seed in range(20, 25):
        world = efex.make("icg", unique_fraction=1.0, seed=seed)
        run = efex.explore(world, steps=3_500, seed=seed, clones=2, progress=False)
        assert efex.measures.precision(run, world) > 0.99
