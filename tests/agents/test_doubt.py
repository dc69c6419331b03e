"""What the default agent does about places that it may have taken for one another."""

import gymnasium
import numpy as np
import pytest

import efex
from efex.agents import Efex, RandomAgent, ledger
from efex.agents.arrivals import Arrivals, Edge
from efex.agents.cadence import MOST_PATIENCE, Cadence
from efex.agents.efex import RESTARTS
from efex.agents.urge import LONGEST, SETTLED, Urge
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
    assert arrivals.untried(there).tolist() == [True, False, False]
    arrivals.add(there, 0)
    assert arrivals.doubt(there).tolist() == [0, 0, 0]


class Lock(gymnasium.Env):
    """Four places that look alike, in a ring: turning goes on, pushing opens at the last one, knocking does nothing."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        self.place = 0
        return 0, {}

    def step(self, action):
        opens = action == 1 and self.place == 3
        self.place = (self.place + (action == 0)) % 4
        return int(opens), 0.0, False, False, {}


def test_where_no_coordinates_tell_one_tries_what_tells_which_one_it_is():
    agent = Efex()
    run = efex.explore(Lock(), steps=600, agent=agent, progress=False)
    assert run.graph.merge_equivalent().n_nodes == 5
    turned, pushed, knocked = agent._tests(Edge(-1, 0, int(agent.path[0])))  # an edge after which nothing was tried
    assert turned == pytest.approx(0, abs=0.05)
    assert knocked == pytest.approx(0, abs=0.05)
    assert pushed > 0.3, "one in four opens"
    agent.telling = 0.0
    assert agent._tests(Edge(-1, 0, int(agent.path[0]))).tolist() == [0.1, 0.1, 0.1]


@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_where_coordinates_tell_nobody_asks_which_one_it_is(slip, monkeypatch):
    def walked(**settings):
        world = efex.make("grid2d", size=7, unique_fraction=0.2, slip=slip, seed=1)
        run = efex.explore(world, steps=700, seed=1, agent=Efex(**settings), progress=False)
        return run.experience.actions.tolist()

    plain = walked(telling=0.0)
    assert walked() == plain
    # Where actions slip coordinates are often wrong, and tell all the same.
    monkeypatch.setattr(ledger, "tells_places", lambda belief, where: where.is_trusted)
    assert (walked() == plain) == (slip == 0)


def test_who_does_not_reckon_does_not_ask():
    assert Efex(start="warm").telling == 2.0
    walks = [
        efex.explore(Lock(), steps=600, agent=Efex(start="unreckoned", telling=telling), progress=False).experience
        for telling in (0.0, 2.0)
    ]
    assert walks[0].actions.tolist() == walks[1].actions.tolist()


@pytest.mark.parametrize("telling", [-1.0, "much", float("nan"), None])
def test_telling_is_an_amount(telling):
    with pytest.raises(InvalidArgumentError, match="telling"):
        Efex(telling=telling)


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
        self.cell = min(max(self.cell + (-1, 1)[action], 0), 29)
        return int(self.cell == 29), 0.0, False, False, {}


def sights(**settings):
    found = efex.explore(Corridor(), steps=1_500, agent=Efex(**settings), episode_steps=500, progress=False)
    return set(found.experience.observations.tolist())


def test_a_map_that_seems_complete_is_doubted():
    assert sights() == {0, 1}
    assert sights(restlessness=0.0, scrutiny=0.0) == {0}


def test_an_urge_lasts_n_steps_with_the_chance_of_one_in_n():
    names = iter(range(10**6))
    urge = Urge(0.5, np.random.default_rng(0))
    said = [urge.follow(lambda: next(names), settled_for=SETTLED) for _ in range(200_000)]
    lengths = np.bincount([name for name in said if name is not None])[:-1]
    for n in (2, 5, 20, LONGEST):
        assert (lengths >= n).mean() == pytest.approx(1 / n, rel=0.1)
    assert lengths.max() == LONGEST
    # Between urges, every step is an independent draw.
    assert len(lengths) / (len(lengths) + said.count(None)) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize(("settled_for", "often"), [(0, 0.0), (SETTLED // 3, 0.1), (SETTLED, 0.3), (10 * SETTLED, 0.3)])
def test_urges_come_the_more_often_the_longer_a_map_stands_still(settled_for, often):
    urge = Urge(0.3, np.random.default_rng(0))
    said = []
    for _ in range(20_000):
        said.append(urge.follow(lambda: 0, settled_for=settled_for) is not None)
        urge.rest()
    assert np.mean(said) == pytest.approx(often, abs=0.01)


def test_an_urge_comes_over_who_is_not_patient_too():
    assert sights(patient=False) == {0, 1}


def test_an_urge_is_let_go():
    urge = Urge(0.999, np.random.default_rng(1))
    names = iter(range(100))
    for _ in range(20):
        urge.follow(lambda: next(names), settled_for=SETTLED)
        urge.rest()
    assert next(names) >= 19


def test_an_urge_never_takes_what_is_not_available():
    class Alternating(Corridor):
        """Only one of the two actions is available, in turns."""

        def reset(self, *, seed=None, options=None):
            return super().reset()[0], {"action_mask": np.array([0, 1], np.int8)}

        def step(self, action):
            seen, *rest, _ = super().step(action)
            return seen, *rest, {"action_mask": np.array([action == 1, action == 0], np.int8)}

    found = efex.explore(Alternating(), steps=300, agent=Efex(restlessness=0.9), progress=False)
    actions = found.experience.actions
    assert (actions[:-1] == np.arange(1, 301) % 2).all()


def test_refits_wait_longer_while_the_map_stays_as_it_is():
    def waits(cadence, beliefs):
        """Return after how many steps each refit came that made the map one of `beliefs`."""
        cadence.reset()
        found, steps = [], 10_000
        for belief in beliefs:
            before, steps = steps, steps + 1
            while not cadence.is_due(cadence._known or belief, steps):
                steps += 1
            found.append(steps - before)
            cadence.refitted(belief, brief=False)
        return found

    known = Belief.empty(3, 2, prior=0.1).updated(np.array([0]), np.array([0]), np.array([1]))
    other = Belief.empty(3, 2, prior=0.1).updated(np.array([0]), np.array([0]), np.array([2]))
    patient = Cadence(25, 0.01, True, 0)
    shares = np.array(waits(patient, [known] * 8)) / 10_000
    assert (np.diff(shares[:2]) < 0.001).all()
    assert shares[MOST_PATIENCE] == pytest.approx(MOST_PATIENCE * 0.01, rel=0.2)
    assert np.ptp(np.array(waits(Cadence(25, 0.01, False, 0), [known] * 8)) / 10_000) < 0.002
    # A map that changes, and an edge that is not on it, end the patience.
    assert np.ptp(np.array(waits(patient, [known, other] * 4)) / 10_000) < 0.002
    waits(patient, [known] * 8)
    longer = known.updated(np.array([1]), np.array([1]), np.array([1]))
    patient.waited = 105
    assert not patient.is_due(known, 10_000)
    assert patient.is_due(longer, 10_000)


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
        lambda: SplitMerge(contexts=-1),
        lambda: SplitMerge(melts=-1),
        lambda: SplitMerge(merge=1),
        lambda: Efex(start="sideways"),
        lambda: Efex(start=[]),
        lambda: RandomAgent(patience=-1),
        lambda: RandomAgent(restarts=0),
    ],
)
def test_what_cannot_be_meant_is_refused_before_the_walk(attempt):
    with pytest.raises(InvalidArgumentError):
        attempt()


@pytest.mark.parametrize("start", RESTARTS)
def test_every_start_explores(start):
    world = efex.make("grid2d", size=4, unique_fraction=0.5, seed=0)
    found = efex.explore(world, steps=400, agent=Efex(clones=6, start=start), progress=False)
    assert efex.measures.weighted_coverage(found, world) > 0.6
    assert max(found.recovery.model.layout.sizes) <= 6
