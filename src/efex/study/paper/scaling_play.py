"""Playing a growing maze: when all was tried and covered, and how right the map is, near home and everywhere."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from efex.measures import Trail, coverage_curve, precision
from efex.study.case import Case
from efex.study.moments import Moment, moments
from efex.worlds import GraphWorld

COVERED = 0.99
"""The weighted coverage at which a maze counts as covered: most ways home were taken, at walls one time in ten."""


def play_scaling(case: Case) -> dict[str, Any]:
    """Return when every (node, action) was tried and the maze covered, and the two precisions at every mark.

    Long random walks hardly leave home here, so that `precision` says little of what lies far away; `everywhere` is
    the same on walks of 50 steps.
    """
    result: dict[str, Any] = {"steps": [], "precision": [], "everywhere": [], "nodes": []}
    for moment in moments(case):
        if moment.taken in case.marks:
            _measure(moment, result)
    truth, trail = moment.world.truth, _trail(moment)
    return result | {
        "seconds": round(moment.seconds, 2),
        "truth_nodes": truth.n_nodes,
        "tried_steps": _steps_to_try(trail, truth.n_nodes * truth.n_actions),
        "covered_steps": _steps_to_cover(trail, moment.world),
    }


def _measure(moment: Moment, result: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = moment.record.run()
    result["steps"].append(moment.taken)
    result["precision"].append(round(precision(run, moment.world), 5))
    result["everywhere"].append(round(precision(run, moment.world, walks=10_000, steps=50), 5))
    result["nodes"].append(run.graph.n_nodes)


def _trail(moment: Moment) -> Trail:
    return Trail(moment.agent.experience, np.array(moment.record.true_nodes))


def _steps_to_try(trail: Trail, pairs: int) -> int | None:
    """Return after how many steps every (node, action) pair had been tried, None where some never were."""
    actions, nodes = trail.experience.actions, np.asarray(trail.true_nodes)
    t = np.flatnonzero(actions >= 0)
    _, first = np.unique(nodes[t] * trail.experience.n_actions + actions[t], return_index=True)
    return int(first.max()) + 1 if len(first) == pairs else None


def _steps_to_cover(trail: Trail, world: GraphWorld) -> int | None:
    """Return after how many steps the maze was covered, None where it never was."""
    covered = coverage_curve(trail, world) >= COVERED
    return int(covered.argmax()) + 1 if covered.any() else None
