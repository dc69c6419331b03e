"""Replanning after one more step: policy iteration on relative values against value iteration, warm-started both.

Run: python benchmarks/planning.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import efex
from efex.belief import Belief
from efex.planning import Plan, policy_iteration, value_iteration

DISCOUNT = 0.9999
STEPS = 200


def fastest(work: Callable[[], Any], *, repeats: int) -> float:
    """Seconds of the fastest of several runs, after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def walked(name: str, steps: int, **options: Any) -> list[Belief]:
    """The beliefs along the end of a random walk, as an agent that knows where it is would hold them."""
    world = efex.make(name, seed=0, **options)
    _, actions, nodes = world.walks(1, steps, seed=0)
    n = world.truth.n_nodes
    belief = Belief.empty(n, world.truth.n_actions, prior=2e-3)
    known = steps - STEPS
    belief = belief.updated(nodes[0, :known], actions[0, :known], nodes[0, 1 : known + 1])
    beliefs = [belief]
    for t in range(known, steps):
        belief = belief.updated(nodes[0, t : t + 1], actions[0, t : t + 1], nodes[0, t + 1 : t + 2])
        beliefs.append(belief)
    return beliefs


def replan(beliefs: list[Belief], plan: Callable[[Belief, np.ndarray], Plan], read: str) -> list[Plan]:
    """Plan on every belief in turn, each from the values of the one before."""
    values = np.zeros(beliefs[0].n_states)
    plans = []
    for belief in beliefs:
        plans.append(plan(belief, values))
        values = getattr(plans[-1], read)
    return plans


def by_policy(belief: Belief, relative: np.ndarray) -> Plan:
    return policy_iteration(belief, discount=DISCOUNT, relative=relative)


def by_value(belief: Belief, values: np.ndarray) -> Plan:
    return value_iteration(belief, discount=DISCOUNT, values=values)


def by_value_converged(belief: Belief, values: np.ndarray) -> Plan:
    return value_iteration(belief, discount=DISCOUNT, values=values, tolerance=1e-8)


METHODS = (
    ("value iteration, default stop", by_value, "values"),
    ("value iteration, converged", by_value_converged, "values"),
    ("policy iteration", by_policy, "relative"),
)


def bellman_error(plan: Plan) -> float:
    """The largest violation of the paper's fixed point, relative to the span of the values."""
    b, v = plan.belief, plan.values
    mean = np.array([[b.mean(z, a) for a in range(b.n_actions)] for z in range(b.n_states)])
    q = (1 - DISCOUNT) * b.information_gain.reshape(b.n_states, -1) + DISCOUNT * mean @ v
    change = q.max(axis=1) - v
    return float(np.ptp(change) / np.ptp(v))


def main() -> None:
    print(f"{'world':<9}{'states':>7}  {'method':<31}{'ms a step':>10}{'Bellman error':>15}")
    for name, options, steps in (("chain", {"length": 50}, 2_000), ("grid2d", {"size": 21}, 10_000)):
        beliefs = walked(name, steps, **options)
        for method, plan, read in METHODS:
            error = bellman_error(replan(beliefs, plan, read)[-1])
            seconds = fastest(lambda p=plan, r=read, b=beliefs: replan(b, p, r), repeats=2) / len(beliefs)
            print(f"{name:<9}{beliefs[0].n_states:>7}  {method:<31}{1e3 * seconds:>10.3f}{error:>15.1e}")


if __name__ == "__main__":
    main()
