"""Moments of a case: its exploration stopped at every mark, for studies that look at more than the measures."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from efex.adapters import AgentView
from efex.agents import AGENTS, Agent
from efex.errors import InvalidArgumentError
from efex.explore import walk
from efex.kernels.threads import threads_for
from efex.model.pseudocount import PerRow
from efex.randomness import stream
from efex.record import Record
from efex.study.case import Case
from efex.study.study import load_file
from efex.study.tour import Tour
from efex.worlds import GraphWorld, make


class Moment(NamedTuple):
    """How far an exploration is: the steps taken, the seconds they took, who walks where, and what comes of it."""

    taken: int
    seconds: float
    agent: Agent
    world: GraphWorld
    record: Record


def moments(case: Case) -> Iterator[Moment]:
    """Play a case and yield at every mark and at the end; what is done there does not count as exploring.

    At a mark the last step was taken and is not learned from yet: its outcome is given to the agent with the next one.
    """
    with threads_for(0):
        yield from _moments(case)


def _moments(case: Case) -> Iterator[Moment]:
    world = make(case.world, seed=case.seed, **dict(case.options))
    agent, view = make_case_agent(case, world), AgentView(world)
    agent.prepare(view.n_actions, rng=stream(case.seed, "agent"), symbols=view.symbols)
    record = Record(view, agent, world, {})
    taken, begin, seconds = 0, time.perf_counter(), 0.0
    for action, node, *_ in walk(view, agent, steps=case.steps, seed=case.seed):
        record.true_nodes.append(node)
        taken += action is not None
        if action is not None and taken in case.marks and taken < case.steps:
            seconds += time.perf_counter() - begin
            yield Moment(taken, seconds, agent, world, record)
            begin = time.perf_counter()
    yield Moment(taken, seconds + time.perf_counter() - begin, agent, world, record)


def make_case_agent(case: Case, world: GraphWorld) -> Agent:
    """Return the case's agent; the tour alone is given the truth."""
    if case.agent == "tour":
        return Tour(world)
    settings = {name: agent_setting(value) for name, value in case.settings}
    clones: Any = case.clones
    if clones != "auto":
        clones = max(1, math.ceil(clones * world.truth.n_nodes / len(world.truth.symbols)))
    if case.agent in AGENTS:
        return AGENTS[case.agent](clones=clones, **settings)
    path, _, name = case.agent.rpartition(":")
    kind = getattr(load_file(path), name, None)
    if not (isinstance(kind, type) and issubclass(kind, Agent)):
        raise InvalidArgumentError(f"{path} must define {name}, an efex.agents.Agent")
    construct: Callable[..., Agent] = kind
    return construct(clones=clones, **settings)


def agent_setting(value: Any) -> Any:
    """Return a setting as agents take it: "0.1/row" is a pseudocount for a whole row."""
    if isinstance(value, str) and value.endswith("/row"):
        return PerRow(float(value.removesuffix("/row")))
    return value
