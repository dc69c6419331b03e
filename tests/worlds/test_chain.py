import numpy as np
import pytest

from efex.errors import InvalidArgumentError
from efex.worlds import make


def ends(truth, node):
    """Return the targets of both actions at `node`, sorted."""
    return sorted(int(truth.transition(action)[[node]].argmax()) for action in range(2))


@pytest.mark.parametrize("seed", range(5))
def test_one_action_leads_each_way_and_the_ends_stay(seed):
    truth = make("chain", length=7, seed=seed).truth
    assert [ends(truth, node) for node in range(7)] == [
        [0, 1],
        *([n - 1, n + 1] for n in range(1, 6)),
        [5, 6],
    ]
    assert set(truth.probability.tolist()) == {1.0}


def test_meanings_are_flipped_about_half_the_time():
    left = make("chain", length=1000, seed=3).truth.transition(0).diagonal(-1).sum()
    assert 400 < left < 600


def test_home_episodes_and_observations():
    world = make("chain")
    assert world.truth.starts == (1,)
    assert world.episode_steps == 59
    assert world.truth.observations == tuple(range(50))
    assert make("chain", length=5).episode_steps == 14


def test_the_trap_holds_or_lets_go():
    free, trapped = (make("chain", length=5, trap=trap, seed=1).truth for trap in (False, True))
    for action in range(2):
        before, after = free.transition(action).toarray(), trapped.transition(action).toarray()
        assert after[0].tolist() == [0.5, 0.5, 0, 0, 0]
        assert np.array_equal(before[1:], after[1:])


def test_the_shortest_chain():
    truth = make("chain", length=2).truth
    assert [ends(truth, node) for node in range(2)] == [[0, 1], [0, 1]]


@pytest.mark.parametrize("noise", [{"unique_fraction": 0.5}, {"slip": 0.1}])
def test_neither_aliasing_nor_slip(noise):
    with pytest.raises(InvalidArgumentError, match="chain has neither aliasing nor slip"):
        make("chain", **noise)
