"""Where walks were that turn, and what follows for the maps of such worlds."""

import numpy as np
import pytest
from robots import robot

import efex
from efex.agents import Efex
from efex.kernels import strides as kernel
from efex.model.marginal import marginal_likelihood
from efex.model.moves import displacements
from efex.model.strides import Strides


def purity(told, nodes):
    """The share of positions at which what is told apart is the true node that it mostly is."""
    pairs, times = np.unique(np.stack([told, nodes]), axis=1, return_counts=True)
    return sum(times[pairs[0] == each].max() for each in np.unique(told)) / len(nodes)


@pytest.mark.parametrize(("sees", "fails"), [("ahead", 0.0), ("cell", 0.0), ("ahead", 0.05)])
def test_a_walk_is_followed_by_what_is_seen_alone(sees, fails):
    run = efex.explore(robot(sees=sees, fails=fails), steps=1_200, seed=1, agent="random", progress=False)
    experience, nodes = run.experience, np.array(run.true_nodes)
    moves, looks = displacements(experience), experience.observations.astype(np.int64)

    def told(at):
        return np.unique((at, looks), axis=1, return_inverse=True)[1].ravel()

    def score(at):
        return marginal_likelihood(told(at), experience, weight=0.1, moves=moves)

    strides = Strides(experience, 0 * looks, moves=moves)
    best = told(strides.likeliest(looks, score=score, rng=np.random.default_rng(0)))
    assert min(purity(best, nodes), purity(nodes, best)) > 0.9


def test_steps_that_lead_on_unseen_are_told_by_what_comes_later():
    """A corridor of three dark cells between two lamps, walked to and fro; it is never shorter or longer."""
    there, back = [1, 0, 0, 0, 2], [2, 0, 0, 0, 1]
    looks = np.array((there + back[1:-1]) * 6 + [1])
    actions = np.array([0, 0, 0, 0, 1, 1, 1, 1] * 6 + [-1])
    moves = np.repeat([[40], [-40]], 4, axis=1)
    expected, stays = np.full(len(looks), 0.5), np.full((3, 2), 0.3)
    at = kernel.follow(looks, actions, np.array([0, len(looks)]), np.array([0]), 0 * looks, moves, expected, stays)
    assert at.tolist() == [0, 40, 80, 120, 160, 120, 80, 40] * 6 + [0]


@pytest.mark.parametrize("world", [{"colours": 3}, {"colours": 4, "backwards": True}, {"sees": "cell", "colours": 8}])
def test_a_robot_in_a_room_that_looks_alike_is_mapped(world):
    """A few views for 100 poses: without headings hardly anything is told apart."""
    world = robot(**world)
    found = efex.explore(world, steps=1_200, seed=3, progress=False)
    assert found.graph.n_nodes == 100
    assert efex.measures.precision(found, world, walks=10, steps=1_000) > 0.999
    assert displacements(found.experience).all()
    blind = efex.explore(world, steps=1_200, seed=3, agent=Efex(start="unreckoned"), progress=False)
    assert efex.measures.precision(blind, world, walks=10, steps=1_000) < 0.8


def test_a_log_of_a_robot_is_learned():
    log = efex.explore(robot(colours=4), steps=2_000, seed=4, agent="random", progress=False)
    fit, nodes = efex.learn(log.experience), np.array(log.true_nodes)
    assert purity(fit.recovery.path, nodes) == purity(nodes, fit.recovery.path) == 1


def test_there_are_no_more_clones_than_were_asked_for():
    found = efex.explore(robot(colours=3), steps=600, seed=3, clones=12, progress=False)
    assert max(found.recovery.model.layout.sizes) <= 12


class InterruptionError(Exception):
    """What ends a run before its time."""


def test_a_run_that_turns_goes_on_as_if_nothing_had_happened(tmp_path, monkeypatch):
    options = {"steps": 640, "seed": 3, "progress": False}
    whole = efex.explore(robot(colours=4), **options)
    broken = robot(colours=4)
    walk = broken.step

    def step(action):
        if len(taken) == 333:
            raise InterruptionError
        taken.append(action)
        return walk(action)

    taken = []
    monkeypatch.setattr(broken, "step", step)
    with pytest.raises(InterruptionError):
        efex.explore(broken, folder=tmp_path, **options)
    again = efex.explore(robot(colours=4), folder=tmp_path, resume=True, **options)
    assert displacements(whole.experience).all()
    assert again.experience.actions.tolist() == whole.experience.actions.tolist()
    assert again.recovery.path.tolist() == whole.recovery.path.tolist()
