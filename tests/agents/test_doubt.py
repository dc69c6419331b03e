"""What the default agent does about places that it may have taken for one another."""

import gymnasium
import numpy as np
import pytest

import efex
from efex.agents import Efex, RandomAgent
from efex.agents.arrivals import Arrivals, Edge
from efex.belief import Belief
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.model.split_merge import SplitMerge


def test_doubt_is_about_what_was_not_done_after_an_edge():
    # Two episodes; nothing follows the last step of either.
    experience = Experience.from_episodes([([0, 1, 0], [0, 1]), ([0, 1, 0, 1], [0, 2, 0])], n_actions=3)
    arrivals = Arrivals(experience.observations.astype(np.int64), experience)
    there, back = Edge(0, 0, 1), Edge(1, 2, 0)
    assert arrivals.doubt(there).tolist() == pytest.approx([1 / 9, 0, 0])
    assert arrivals.doubt(back).tolist() == pytest.approx([0, 1 / 4, 1 / 4])
    assert arrivals.doubt(Edge(1, 1, 0)).tolist() == [1, 1, 1]
    arrivals.add(there, 0)
    assert arrivals.doubt(there).tolist() == [0, 0, 0]


def test_a_belief_is_complete_when_nothing_is_untried_where_one_was():
    belief = Belief.empty(3, 2, prior=0.1).updated(np.array([0, 0]), np.array([0, 1]), np.array([0, 1]))
    assert not belief.is_complete  # nothing was tried at state 1
    tried = belief.updated(np.array([1, 1]), np.array([0, 1]), np.array([0, 1]))
    assert tried.is_complete  # nobody was ever at state 2
    closed = np.zeros(6, bool)
    closed[2:4] = True
    assert belief.closing(closed).is_complete


class Corridor(gymnasium.Env):
    """Looks the same everywhere but at its far end, so that one place explains it until somebody gets there."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.cell = 0
        return 0, {}

    def step(self, action):
        self.cell = min(max(self.cell + (-1, 1)[action], 0), 6)
        return int(self.cell == 6), 0.0, False, False, {}


def sights(**settings):
    found = efex.explore(Corridor(), steps=1_500, agent=Efex(**settings), episode_steps=500, progress=False)
    return set(found.experience.observations.tolist())


def test_a_map_that_seems_complete_is_doubted():
    assert sights() == {0, 1}
    assert sights(restlessness=0.0, scrutiny=0.0) == {0}


@pytest.mark.parametrize("name", ["scrutiny", "restlessness"])
def test_doubt_is_a_share(name):
    with pytest.raises(InvalidArgumentError, match=name):
        Efex(**{name: -0.1})


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: SplitMerge(rounds=-1),
        lambda: SplitMerge(rounds="4"),
        lambda: SplitMerge(iterations=0),
        lambda: SplitMerge(unions=-1),
        lambda: SplitMerge(split=1),
        lambda: Efex(start="sideways"),
        lambda: Efex(start=[]),
        lambda: RandomAgent(patience=-1),
        lambda: RandomAgent(restarts=0),
    ],
)
def test_what_cannot_be_meant_is_refused_before_the_walk(attempt):
    with pytest.raises(InvalidArgumentError):
        attempt()


@pytest.mark.parametrize("start", ["split-merge", "split", "merge", "warm", "fresh", "rivals"])
def test_every_start_explores(start):
    world = efex.make("grid2d", size=4, unique_fraction=0.5, seed=0)
    found = efex.explore(world, steps=400, agent=Efex(clones=6, start=start), progress=False)
    assert efex.measures.weighted_coverage(found, world) > 0.6
    assert max(found.recovery.model.layout.sizes) <= 6
