"""Replanning after one more step: policy iteration on relative values, warm-started, against a converged solve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from efex.belief import Belief
from efex.bench.measuring import Line, best_time, in_products
from efex.bench.workloads import converged, workload
from efex.kernels.planning import FEW
from efex.model.pseudocount import PAPER
from efex.planning import Plan, policy_iteration, value_iteration

DISCOUNT = 0.9999
STEPS = 100


def lines() -> Iterator[Line]:
    """Yield the time to plan again, by policy iteration and by the paper's value iteration to convergence."""
    beliefs, places = _beliefs()
    exact = _replan(beliefs, _by_value_converged, "values")
    for what, method, read, bar in (
        ("replanning after one more step, 924 states", _by_policy, "relative", 0.01),
        ("the same by value iteration, default stop", _by_value, "values", None),
        ("the same by value iteration, converged", _by_value_converged, "values", None),
    ):
        plans = _replan(beliefs, method, read)
        same = np.mean([_agree(mine, theirs, z) for mine, theirs, z in zip(plans, exact, places)])
        work = (lambda m, r: lambda: _replan(beliefs, m, r))(method, read)
        seconds = best_time(work, repeats=3 if bar else 1) / len(beliefs)
        check = f"greedy action of the converged solve at {same:.0%} of {len(beliefs)} steps"
        yield in_products(what, seconds, bar, check, bar is None or same == 1)
    yield _solved_at_once()


def _solved_at_once() -> Line:
    """Return what it takes to plan for as many states as are solved at once, against one more, which is swept."""
    beliefs = [_random_belief(n) for n in (FEW, FEW + 1)]
    plans = [_planned(belief) for belief in beliefs]
    few, many = (best_time(partial(_planned, belief), repeats=3) for belief in beliefs)
    off = max(float(np.abs(_improved(plan) - plan.values).max() / np.abs(plan.values).max()) for plan in plans)
    what = f"planning where chance rules, {FEW} states, against {FEW + 1}"
    return Line(what, few / many, "of its time", None, f"Bellman's equation holds to {off:.0e}", off < 1e-9)


def _planned(belief: Belief) -> Plan:
    return _by_policy(belief, np.zeros(belief.n_states))


def _random_belief(n_states: int) -> Belief:
    """Return the belief after many steps in a world where every action leads anywhere."""
    rng = np.random.default_rng(0)
    steps = (rng.integers(0, n, 200 * n_states) for n in (n_states, 4, n_states))
    return Belief.empty(n_states, 4, prior=0.1 / n_states).updated(*steps)


def _improved(plan: Plan) -> np.ndarray:
    """Return the right-hand side of Bellman's equation at a plan's values."""
    return value_iteration(plan.belief, discount=DISCOUNT, values=plan.values, limit=1).values


def _beliefs() -> tuple[list[Belief], list[int]]:
    """Return the beliefs along the end of W, as decoded by its converged model, and the states the walk is at."""
    experience, _ = workload()
    path = converged().decode(experience).path
    t = np.flatnonzero(experience.actions >= 0)
    source, action, target = path[t], experience.actions[t].astype(np.int64), path[t + 1]
    known = len(t) - STEPS
    belief = Belief.empty(converged().layout.n_states, experience.n_actions, prior=PAPER)
    belief = belief.updated(source[:known], action[:known], target[:known])
    beliefs = []
    for k in range(known, len(t)):
        belief = belief.updated(source[k : k + 1], action[k : k + 1], target[k : k + 1])
        beliefs.append(belief)
    return beliefs, target[known:].tolist()


def _replan(beliefs: list[Belief], plan: Callable[[Belief, np.ndarray], Plan], read: str) -> list[Plan]:
    """Plan on every belief in turn, each from the values of the one before."""
    values = np.zeros(beliefs[0].n_states)
    plans = []
    for belief in beliefs:
        plans.append(plan(belief, values))
        values = getattr(plans[-1], read)
    return plans


def _by_policy(belief: Belief, relative: np.ndarray) -> Plan:
    return policy_iteration(belief, discount=DISCOUNT, relative=relative)


def _by_value(belief: Belief, values: np.ndarray) -> Plan:
    return value_iteration(belief, discount=DISCOUNT, values=values)


def _by_value_converged(belief: Belief, values: np.ndarray) -> Plan:
    return value_iteration(belief, discount=DISCOUNT, values=values, tolerance=1e-8)


def _agree(mine: Plan, theirs: Plan, state: int) -> bool:
    """Return whether the first action that one plan would take is as good as any for the other."""
    return bool(np.isin(mine.best_actions(state)[0], theirs.best_actions(state)))
