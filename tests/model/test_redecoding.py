"""Episodes decoded again by what the others tell, and the odds that two places that look alike are two."""

import itertools
import math

import numpy as np
import pytest

import efex
from efex.agents import RandomAgent
from efex.experience import Experience
from efex.kernels import redecoding as kernel
from efex.model.aliasing import FIRST_GUESS, HIDING, PLACE, odds_of_two
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import marginal_likelihood
from efex.model.redecoding import Tally, _ground, redecoded
from efex.model.viterbi_training import from_path

WEIGHT = 0.1
EPISODES = [([0, 1, 0, 0], [0, 1, 1]), ([0, 0, 1, 0, 1], [1, 0, 0, 1]), ([1, 0, 1], [1, 0])]


def counted(path, experience, sizes, place=0.5):
    model = from_path(Model.empty(experience, CloneLayout(sizes), pseudocount=0.01), experience, path)
    visits = np.bincount(path, minlength=model.layout.n_states).astype(np.float64)
    tally = Tally(model.counts.astype(np.float64), model.totals.copy(), model.starts.copy(), visits)
    return _ground(model, experience, path, weight=WEIGHT, place=place, moves=None), tally


@pytest.fixture
def case():
    experience = Experience.from_episodes(EPISODES, n_actions=2)
    # Observation 0 has the states 0 to 2, of which 2 was never visited, observation 1 has 3 to 5.
    path = np.array([0, 3, 1, 1, 0, 1, 4, 0, 3, 3, 0, 4])
    return experience, path, *counted(path, experience, (3, 3))


def ways(experience, lo, hi):
    """Yield all states of an episode that show what was seen."""
    looks = experience.observations[lo:hi]
    yield from (np.array(way) for way in itertools.product(*[range(3 * look, 3 * look + 3) for look in looks]))


def test_an_episode_is_decoded_to_its_likeliest_states_under_the_counts_of_the_others(case):
    experience, path, ground, tally = case
    for lo, hi in itertools.pairwise(experience.offsets.tolist()):
        kernel.tally(ground, tally, lo, path[lo:hi], -1.0)
        found = kernel.decode(ground, tally, lo, hi, np.zeros((2, 3)), np.zeros((hi - lo, 3), np.int64))

        def chance(way, lo=lo):
            steps = [kernel.chance_of_step(ground, tally, lo + t, *way[t : t + 2]) for t in range(len(way) - 1)]
            return kernel.chance_of_start(ground, tally, lo, way[0]) * math.prod(steps)

        free = {kernel.first_fresh(ground, tally, look) for look in (0, 1)}
        allowed = [w for w in ways(experience, lo, hi) if all(tally.visits[s] > 0 or s in free for s in w)]
        assert chance(found) == pytest.approx(max(map(chance, allowed)))
        kernel.tally(ground, tally, lo, path[lo:hi], 1.0)


def test_the_chance_of_an_episode_counts_its_own_steps_and_leaves_no_trace(case):
    experience, path, ground, tally = case
    before = [array.copy() for array in tally]
    lo, hi = experience.offsets[1], experience.offsets[2]
    kernel.tally(ground, tally, lo, path[lo:hi], -1.0)
    way, expected = np.array([2, 2, 3, 2, 3]), ground.place  # to a place that is new, which it visits three times
    expected += math.log(kernel.chance_of_start(ground, tally, lo, 2))
    for t in range(4):
        expected += math.log(kernel.chance_of_step(ground, tally, lo + t, way[t], way[t + 1]))
        tally.counts[kernel.entry(ground, lo + t, way[t], way[t + 1])] += 1
        tally.totals[experience.actions[lo + t], way[t]] += 1
    for t in range(4):
        tally.counts[kernel.entry(ground, lo + t, way[t], way[t + 1])] -= 1
        tally.totals[experience.actions[lo + t], way[t]] -= 1
    assert kernel.log_chance(ground, tally, lo, way) == pytest.approx(expected)
    kernel.tally(ground, tally, lo, path[lo:hi], 1.0)
    for now, then in zip(tally, before):
        assert now == pytest.approx(then)


def test_a_step_is_as_likely_as_the_marginal_likelihood_says(case):
    experience, path, _, tally = case
    # One step more of the last episode: from state 4 by action 0 to state 0, which was walked once before.
    longer = Experience.from_episodes([*EPISODES[:2], ([1, 0, 1, 0], [1, 0, 0])], n_actions=2)
    gain = marginal_likelihood(np.append(path, 0), longer, weight=WEIGHT, place=0.5)
    gain -= marginal_likelihood(path, experience, weight=WEIGHT, place=0.5)
    again, _ = counted(np.append(path, 0), longer, (3, 3))
    assert math.exp(gain) == pytest.approx(kernel.chance_of_step(again, tally, len(path) - 1, 4, 0))


def test_a_mistake_that_only_confirms_itself_is_found():
    world = efex.make("sparse-maze", unique_fraction=0.3, seed=0)
    run = efex.explore(world, steps=1_500, agent="random", seed=0, progress=False)
    truth, looks = np.array(run.true_nodes), run.experience.observations
    lo, hi = run.experience.offsets[7:9]
    elsewhere = np.unique(np.delete(truth, np.arange(lo, hi)))

    def score(path):
        return marginal_likelihood(path, run.experience, weight=WEIGHT)

    mistakes = 0
    for node in np.intersect1d(truth[lo:hi], elsewhere):
        look = looks[truth == node][0]
        for other in np.setdiff1d(np.intersect1d(truth[looks == look], elsewhere), node):
            wrong = truth.copy()
            wrong[lo:hi][truth[lo:hi] == node] = other
            assert score(wrong) < score(truth)
            mended = redecoded(wrong, run.experience, weight=WEIGHT, place=2.0, rng=np.random.default_rng(0))
            assert score(mended) >= score(truth) - 1e-6
            mistakes += 1
    assert mistakes > 5


@pytest.mark.parametrize("unique", [1.0, 0.9, 0.3])
def test_the_odds_are_those_of_the_world_once_it_is_known(unique):
    world = efex.make("grid2d", size=8, unique_fraction=unique, seed=3, random_start=True)
    run = efex.explore(world, steps=10_000, agent="random", seed=3, progress=False)
    nodes, looks = world.truth.n_nodes, len(world.truth.symbols)
    odds = min(math.log((HIDING * (nodes - looks) + FIRST_GUESS) / (looks + 1)), PLACE)
    assert odds_of_two(np.array(run.true_nodes), run.experience) == pytest.approx(odds)


@pytest.mark.parametrize(("slip", "odds"), [(0.0, PLACE), (0.1, 0.0), (0.3, 0.0)])
def test_where_chance_rules_no_place_more_is_preferred(slip, odds):
    world = efex.make("grid2d", size=6, unique_fraction=0.3, slip=slip, seed=3, random_start=True)
    walker = RandomAgent(iterations=1, patience=0)
    run = efex.explore(world, steps=5_000, agent=walker, seed=3, progress=False)
    assert odds_of_two(np.array(run.true_nodes), run.experience) == pytest.approx(odds)


def test_the_odds_are_a_guess_at_first_and_duplicates_do_not_count():
    begun = Experience.from_episodes([([0], [])], n_actions=2)
    assert odds_of_two(np.zeros(1, np.int64), begun) == pytest.approx(math.log(FIRST_GUESS / 2))
    # Both actions were tried at state 0 and only one at its duplicate.
    walk = Experience.from_episodes([([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0])], n_actions=2)
    odds = odds_of_two(np.array([0, 2, 0, 2, 1, 2]), walk)
    assert odds == pytest.approx(math.log(FIRST_GUESS / 3))


def test_only_the_latest_episode_is_decoded_again_if_that_is_asked(case):
    experience, path, *_ = case
    begin = experience.offsets[-2]
    wrong = path.copy()
    wrong[begin:] = [5, 2, 5]  # places where nobody else has been, instead of 3, 0 and 4
    states = redecoded(wrong, experience, weight=WEIGHT, place=-3.0, rng=np.random.default_rng(0), latest=True)
    names = set(zip(path[:begin].tolist(), states[:begin].tolist()))
    assert len(names) == len(set(path[:begin])) == len(set(states[:begin]))  # the others have new names at most
    assert set(states[begin:]) <= set(states[:begin])
