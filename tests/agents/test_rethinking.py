"""A map that is complete and still leaves something to chance: a fresh start may explain more."""

import numpy as np
import pytest

import efex
from efex.agents import Efex, EfexPaper
from efex.agents.learner import Learner
from efex.belief import Belief
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.model.allocation import Growing
from efex.model.marginal import explanation
from efex.model.pseudocount import ROW
from efex.model.split_merge import SplitMerge

SUNK = SplitMerge(contexts=0, rounds=0, split=False, redecode=False, reckon=False)
"""A search that finds nothing by itself."""


@pytest.fixture
def experience():
    """A ring of six rooms that show two things, walked at random."""
    rng, looks = np.random.default_rng(0), "aabbab"
    walks = []
    for _ in range(12):
        actions = rng.integers(0, 2, 40)
        cells = np.concatenate([[0], np.cumsum(2 * actions - 1)]) % 6
        walks.append(([looks[cell] for cell in cells], actions))
    return Experience.from_episodes(walks)


def learner_of(experience):
    rng = np.random.default_rng(1)
    return Learner(experience, Growing(), pseudocount=ROW, method="em+viterbi", restart=SUNK, rng=rng)


def test_a_fresh_start_is_kept_if_it_explains_more(experience):
    learner, scores = learner_of(experience), []
    for rethink in (0.0, 0.2):
        path = learner.model.decode(experience).path
        for _ in range(6):
            learner._rethink_after = 0
            learner.refit(path, rethink=rethink)
            scores.append(explanation(learner.model, experience))
            path = learner.model.decode(experience).path
    assert max(scores[:6]) == pytest.approx(min(scores[:6]))
    assert scores[6:] == sorted(scores[6:])
    assert scores[-1] > scores[0] + 5


@pytest.mark.parametrize("helps", [True, False])
def test_it_waits_until_the_experience_has_grown_longer_if_it_was_in_vain_and_remembers_that(
    experience, monkeypatch, helps
):
    learner, tried = learner_of(experience), []
    monkeypatch.setattr(Learner, "_rethink", lambda self, layout, path: bool(tried.append(1)) or helps)
    for _ in range(3):
        learner.refit(learner.model.decode(experience).path, rethink=0.2)
    assert len(tried) == 1
    assert learner._rethink_after == int((1.2 if helps else 1.4) * len(experience))
    again = learner_of(experience)
    again.put_back(learner.keep())
    again.refit(again.model.decode(experience).path, rethink=0.2)
    assert len(tried) == 1
    assert (again._rethink_after, again._in_vain) == (learner._rethink_after, 0 if helps else 1)
    for _ in range(4):
        again._rethink_after = 0
        again.refit(again.model.decode(experience).path, rethink=0.2)
    assert again._rethink_after == int((1.2 if helps else 1.8) * len(experience))


def test_an_agent_rethinks_complete_maps_that_leave_something_to_chance(monkeypatch):
    asked = []
    plain = Learner.refit

    def refit(self, path, *, brief=False, rethink=0.0):
        asked.append(rethink)
        plain(self, path, brief=brief, rethink=rethink)

    monkeypatch.setattr(Learner, "refit", refit)
    world = efex.make("chain", length=4)
    efex.explore(world, steps=300, seed=0, agent=Efex(rethink=0.5), progress=False)
    assert set(asked) == {0.0}
    asked.clear()
    efex.explore(efex.make("chain", length=4, trap=True), steps=600, seed=0, agent=Efex(rethink=0.5), progress=False)
    assert set(asked) == {0.0, 0.5}


def test_a_belief_knows_whether_chance_rules():
    empty = Belief.empty(2, 1, prior=0.1)
    once = empty.updated(np.array([0]), np.array([0]), np.array([1]))
    assert not empty.is_random
    assert not once.is_random
    assert once.updated(np.array([0]), np.array([0]), np.array([0])).is_random


def test_a_share_that_is_none_is_refused():
    with pytest.raises(InvalidArgumentError, match="rethink"):
        Efex(rethink=1.0)
    assert EfexPaper(clones=2).rethink == 0.0
