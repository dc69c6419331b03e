"""Playing a case: the agent explores, and at every mark its map is measured against the truth."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from efex.measures import Trail, coverage_curve, expected_log_likelihood, precision, steps_to_cover, weighted_coverage
from efex.record import Record
from efex.study.case import Case
from efex.study.moments import moments
from efex.worlds import GraphWorld

Result = dict[str, Any]

CURVE = 100
"""Points of the coverage curve."""


def play(case: Case) -> Result:
    """Return what happened: at every mark the three measures and the number of nodes, and when all was covered."""
    result: Result = {"steps": [], "precision": [], "log_likelihood": [], "coverage": [], "nodes": []}
    for moment in moments(case):
        if case.marks:
            _measure(moment.record, moment.world, moment.taken, result)
    result["seconds"] = round(moment.seconds, 2)
    return result | _covered(
        Trail(moment.agent.experience, np.array(moment.record.true_nodes)), moment.world, case.steps
    )


def _measure(record: Record, world: GraphWorld, taken: int, result: Result) -> None:
    """Add the measures of the map as it is now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = record.run()
    result["steps"].append(taken)
    result["precision"].append(round(precision(run, world), 5))
    result["log_likelihood"].append(round(expected_log_likelihood(run, world), 5))
    result["coverage"].append(round(weighted_coverage(run, world), 5))
    result["nodes"].append(run.graph.n_nodes)


def _covered(trail: Trail, world: GraphWorld, steps: int) -> Result:
    """Return the weighted coverage along the walk, and when every edge had been walked, None where some never were."""
    all_steps = steps_to_cover(trail, world)
    points = np.linspace(0, steps, CURVE + 1)[1:].astype(int).clip(1)
    curve = [round(float(share), 5) for share in coverage_curve(trail, world)[points - 1]]
    covered: Result = {"curve_steps": points.tolist(), "curve_coverage": curve}
    if math.isfinite(all_steps):
        begins = trail.experience.offsets[:-1] - np.arange(trail.experience.n_episodes)
        covered |= {"covered_steps": int(all_steps), "covered_episodes": int((begins < all_steps).sum())}
    else:
        covered |= {"covered_steps": None, "covered_episodes": None}
    return covered
