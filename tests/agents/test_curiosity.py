"""What rows of a belief weigh beforehand: learned from how much places look alike, and where chance rules."""

import numpy as np
import pytest

import efex
from efex.agents import Efex, EfexPaper
from efex.agents.curiosity import ALIASED, CHANCE, UNIQUE, curiosity_for
from efex.belief import Belief
from efex.errors import InvalidArgumentError
from efex.model.layout import CloneLayout
from efex.model.pseudocount import PerRow
from efex.parts import keep_belief, read_belief
from efex.utility import information_gain

LAYOUT = CloneLayout((2, 2, 2))


@pytest.mark.parametrize(("path", "alike"), [([0, 2, 4, 2, 0], 0.0), ([0, 2, 4, 3, 0], 0.5), ([0, 2, 4, 3, 1], 0.8)])
def test_rows_weigh_as_places_look_alike(path, alike):
    learned = curiosity_for("learned", np.array(path), LAYOUT)
    assert learned.prior * 6 == pytest.approx(alike * ALIASED + (1 - alike) * UNIQUE)
    assert learned.by_chance * 6 == pytest.approx(alike * ALIASED + (1 - alike) * CHANCE)


def test_a_given_prior_is_that_of_all_rows():
    path = np.array([0, 2, 4, 2, 0])
    assert curiosity_for(PerRow(0.6), path, LAYOUT) == pytest.approx((0.1, 0.1))
    assert curiosity_for(0.002, path, LAYOUT) == (0.002, 0.002)


def test_only_what_was_tried_where_chance_rules_is_valued_otherwise():
    # State 0: action 0 led to 1 and 2, action 1 to 1, action 2 was not tried; state 1: action 0 led to 2.
    steps = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 1], [1, 0, 2]]).T
    belief = Belief.empty(3, 3, prior=0.01, by_chance=0.2).updated(*steps)
    counts = np.zeros((3, 3, 3))
    np.add.at(counts, tuple(steps), 1)
    prior = np.full((3, 3, 1), 0.01)
    prior[0, :2] = 0.2
    assert belief.information_gain == pytest.approx(information_gain(counts + prior).ravel())


def test_the_prior_of_what_is_random_must_make_sense():
    with pytest.raises(InvalidArgumentError, match="by_chance must be a number above 0"):
        Belief.empty(3, 3, prior=0.01, by_chance=0.0)
    with pytest.raises(InvalidArgumentError, match='prior must be "learned", a number'):
        Efex(prior="guessed")
    with pytest.raises(InvalidArgumentError, match="prior must be a number above 0"):
        EfexPaper(clones=2, prior="learned")  # the paper's is a number


def test_a_belief_kept_before_chance_was_suspected_is_read():
    kept = keep_belief(Belief.empty(2, 1, prior=0.3))
    del kept.about["by_chance"]
    assert read_belief(kept).by_chance == 0.3


@pytest.mark.parametrize("trap", [False, True])
def test_an_unaliased_chain_is_walked_as_fast_as_if_its_end_were_known(trap):
    steps = []
    for seed in range(3):
        world = efex.make("chain", length=20, trap=trap, seed=seed)
        run = efex.explore(world, steps=29 * 10, seed=seed, progress=False)
        steps.append(efex.measures.steps_to_cover(run, world))
    assert np.median(steps) <= 29 * 6
