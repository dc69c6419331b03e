"""Expectation-maximisation: expected counts under the mean weights become the next counts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import cpu
from efex.model.cscg import Model, raise_failed


class Training(NamedTuple):
    """A trained model, and what the model scored before every iteration, in nats."""

    model: Model
    objective: list[float]


class Steps(NamedTuple):
    """An experience bound to a model's blocks, its steps also listed by block."""

    walks: cpu.Walks
    at: NDArray[np.int64]
    order: NDArray[np.int64]
    bounds: NDArray[np.int64]


def bind(model: Model, experience: Experience) -> Steps:
    """Return `experience` as the E-step takes it."""
    walks = model.blocks.bind(experience)
    order = np.argsort(walks.block, kind="stable")
    bounds = np.searchsorted(walks.block[order], np.arange(len(model.blocks) + 1))
    return Steps(walks, cpu.positions(walks, model.weights), order, bounds)


def expected_counts(steps: Steps, weights: cpu.Weights) -> tuple[NDArray[np.floating], NDArray[np.float64], float]:
    """Return the expected counts of blocks and of starts under `weights`, and the log-likelihood, theory (4)."""
    walks, at, order, bounds = steps
    forward, scales, failed = cpu.filter_walks(walks, weights, at)
    raise_failed(failed, walks.offsets)
    backward, norms, failed = cpu.smooth_walks(walks, weights, at, forward)
    raise_failed(failed, walks.offsets)
    counts = cpu.accumulate(walks, weights, at, forward, backward, norms, order, bounds)
    return counts, cpu.start_counts(walks, weights, at, forward, backward), float(scales.sum())


def em(model: Model, experience: Experience, *, iterations: int = 100, tolerance: float = 1e-6) -> Training:
    """Return the model after expectation-maximisation of the penalised likelihood, theory (7).

    Stops when an iteration moves the log-likelihood by less than `tolerance` nats per step. That is the objective
    recorded; what never falls is its sum with `log_prior`, which costs more than an iteration to compute.
    """
    steps = bind(model, experience)
    objective: list[float] = []
    for _ in range(iterations):
        counts, starts, log_likelihood = expected_counts(steps, model.weights)
        objective.append(log_likelihood)
        model = replace(model, counts=counts, starts=starts)
        if settled(objective, experience, tolerance):
            break
    return Training(model, objective)


def settled(objective: list[float], experience: Experience, tolerance: float) -> bool:
    """Return whether the last iteration changed the objective by less than `tolerance` nats per step."""
    if len(objective) < 2:
        return False
    return abs(objective[-1] - objective[-2]) < tolerance * max(experience.n_steps, 1)


def log_prior(model: Model) -> float:
    """Return the penalty that the pseudocount adds to the log-likelihood: pseudocount times the sum of log p."""
    if model.pseudocount == 0:
        return 0.0
    w, n, prior = model.weights, model.layout.n_states, model.pseudocount
    b = model.blocks
    sizes = np.asarray(model.layout.sizes)
    per_pair = np.zeros((model.n_actions, model.layout.n_observations))
    np.add.at(per_pair, (b.action, b.source), sizes[b.target])
    stored = np.repeat(per_pair, sizes, axis=1)
    outside = ((n - stored) * np.log(w.background, dtype=np.float64)).sum()
    return float(prior * (np.log(w.values, dtype=np.float64).sum() + outside + np.log(w.initial).sum()))
