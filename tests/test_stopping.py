"""When a map passes for complete although the very first place was never come back to."""

import numpy as np
import pytest

import efex
from efex.experience import Experience
from efex.stopping import is_left_for_good


@pytest.mark.parametrize(
    ("episodes", "path", "expected"),
    [
        (["abab"], [2, 1, 0, 1], True),
        (["aabab"], [2, 2, 1, 0, 1], True),  # it was a while before it was left
        (["abab"], [0, 1, 0, 1], False),  # come back to
        (["abcb"], [0, 1, 2, 1], False),  # looks like no other
        (["ab", "ab"], [0, 1, 0, 1], False),  # a later episode begins there
        (["ab", "ab"], [2, 1, 0, 1], True),
        (["aa"], [0, 0], False),  # still there
        (["aa"], [0, 1], True),
    ],
)
def test_a_first_place_is_left_for_good_where_it_may_be_another(episodes, path, expected):
    walks = Experience.from_episodes([(shown, [0] * (len(shown) - 1)) for shown in episodes])
    assert is_left_for_good(np.array(path), walks) is expected


def test_a_first_place_that_was_never_recognised_does_not_keep_a_run_going():
    world = efex.make("grid2d", size=4, unique_fraction=0.4, episode_steps=None, seed=101)
    run = efex.explore(world, steps=3_000, seed=101, until="complete", progress=False)
    assert run.summary()["stopped"] == "complete"
    # The place is on the map twice: as the start that nothing leads to, and as it was recognised later.
    graph = run.graph
    assert graph.n_nodes == 17
    assert set(np.argwhere(graph.untried)[:, 0].tolist()) == set(graph.starts)
    pruned = graph.prune(min_count=2)
    assert pruned.n_nodes == 16
    assert not pruned.untried.any()
    assert pruned.equivalent_to(world.truth)
