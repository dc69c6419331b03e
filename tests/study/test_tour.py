import dataclasses

import pytest
from small import run, small_case, small_study

from efex.adapters import AgentView
from efex.errors import EfexError
from efex.explore import walk
from efex.randomness import stream
from efex.study.play import play
from efex.study.store import Store
from efex.study.tour import Tour
from efex.worlds import make


def walked(world, steps):
    """The (node, action) pairs that the tour tries, step by step."""
    view, tour = AgentView(world), Tour(world)
    tour.prepare(view.n_actions, rng=stream(0, "agent"), symbols=view.symbols)
    before, pairs = -1, []
    for action, node, *_ in walk(view, tour, steps=steps, seed=0):
        if action is not None:
            pairs.append((before, action))
        before = node
    return pairs


@pytest.mark.parametrize("options", [{}, {"unique_fraction": 0.2}, {"episode_steps": None}, {"random_start": True}])
def test_it_tries_every_action_at_every_node_in_twice_as_many_steps_at_most(options):
    world = make("grid2d", size=4, seed=0, **options)
    pairs = int(world.truth.tried.sum())
    assert pairs == world.truth.n_nodes * world.truth.n_actions == 64
    assert len(set(walked(world, 2 * pairs))) == pairs


def test_it_goes_on_when_nothing_is_left_to_try():
    world = make("grid2d", size=2, seed=0)
    assert len(walked(world, 200)) == 200


def test_it_tries_everything_where_actions_slip():
    world = make("grid2d", size=3, slip=0.2, seed=0)
    assert len(set(walked(world, 400))) == int(world.truth.tried.sum())


def test_its_case_says_when_all_was_covered():
    result = play(small_case(0, "tour"))
    assert result["covered_steps"] is None  # 60 steps are too few for 64 pairs
    longer = dataclasses.replace(small_case(0, "tour"), steps=128)
    assert 64 <= play(longer)["covered_steps"] <= 128
    assert play(longer)["curve_coverage"][-1] == 1.0


def test_it_refuses_to_recover(tmp_path):
    with pytest.raises(EfexError, match="knows the map"):
        Tour(make("grid2d", size=3, seed=0)).recover()
    study = small_study(small_case(0, "tour", marks=(30,)))
    assert run(study, tmp_path / "kept.sqlite", jobs=1) == list(study.cases)
    with Store(tmp_path / "kept.sqlite") as store:
        ((_, trace),) = store.failures(study.cases)
    assert "takes no marks" in trace
