"""Playing a case: the agent explores, and at every mark its map is measured against the truth."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numba
import numpy as np

from efex.adapters import AgentView
from efex.agents import AGENTS, Agent
from efex.errors import InvalidArgumentError
from efex.explore import walk
from efex.measures import Trail, coverage_curve, expected_log_likelihood, precision, steps_to_cover, weighted_coverage
from efex.model.pseudocount import PerRow
from efex.randomness import stream
from efex.record import Record
from efex.study.case import Case
from efex.study.study import load_file
from efex.study.tour import Tour
from efex.worlds import GraphWorld, make

Result = dict[str, Any]

CURVE = 100
"""Points of the coverage curve."""


def play(case: Case) -> Result:
    """Return what happened: at every mark the three measures and the number of nodes, and when all was covered."""
    numba.set_num_threads(1)
    world = make(case.world, seed=case.seed, **dict(case.options))
    agent = make_case_agent(case, world)
    view = AgentView(world)
    agent.prepare(view.n_actions, rng=stream(case.seed, "agent"), symbols=view.symbols)
    record = Record(view, agent, world, {})
    result: Result = {"steps": [], "precision": [], "log_likelihood": [], "coverage": [], "nodes": []}
    taken, measuring, begin = 0, 0.0, time.perf_counter()
    for action, node in walk(view, agent, steps=case.steps, seed=case.seed):
        record.true_nodes.append(node)
        if action is None:
            continue
        taken += 1
        if taken in case.marks and taken < case.steps:
            before = time.perf_counter()
            _measure(record, world, taken, result)
            measuring += time.perf_counter() - before
    result["seconds"] = round(time.perf_counter() - begin - measuring, 2)
    if case.marks:
        _measure(record, world, case.steps, result)
    return result | _covered(Trail(agent.experience, np.array(record.true_nodes)), world, case.steps)


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
    all_steps, points = steps_to_cover(trail, world), np.linspace(0, steps, CURVE + 1)[1:].astype(int)
    curve = [round(float(share), 5) for share in coverage_curve(trail, world)[points - 1]]
    covered: Result = {"curve_steps": points.tolist(), "curve_coverage": curve}
    if math.isfinite(all_steps):
        begins = trail.experience.offsets[:-1] - np.arange(trail.experience.n_episodes)
        covered |= {"covered_steps": int(all_steps), "covered_episodes": int((begins < all_steps).sum())}
    else:
        covered |= {"covered_steps": None, "covered_episodes": None}
    return covered


def make_case_agent(case: Case, world: GraphWorld) -> Agent:
    """Return the case's agent; the tour alone is given the truth."""
    if case.agent == "tour":
        return Tour(world)
    settings = {name: _value(value) for name, value in case.settings}
    clones: Any = case.clones
    if clones != "auto":
        clones = max(1, math.ceil(clones * world.truth.n_nodes / len(world.truth.symbols)))
    if case.agent in AGENTS:
        return AGENTS[case.agent](clones=clones, **settings)
    path, _, name = case.agent.rpartition(":")
    if not path:
        raise InvalidArgumentError(
            f"agent must be one of {', '.join(AGENTS)}, tour, or file.py:Class, not {case.agent!r}"
        )
    agent: Agent = getattr(load_file(path), name)(clones=clones, **settings)
    return agent


def _value(value: Any) -> Any:
    """Return a setting as agents take it: "0.1/row" is a pseudocount for a whole row."""
    if isinstance(value, str) and value.endswith("/row"):
        return PerRow(float(value.removesuffix("/row")))
    return value
