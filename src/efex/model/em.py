"""Training: expected counts under some weights become the next ones; under the mean weights that is EM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import cpu, pruned
from efex.model.cscg import Model, mean_weights, row_totals, start_probabilities
from efex.model.expectation import Counts, bind, expected_counts, pass_messages
from efex.model.pruning import Few, WeighFew, restricted_training

PRUNE = 1e-5
"""Nats per step that leaving out unlikely clones may cost."""

CYCLE = 16
"""Iterations over the clones that matter before all are looked at again."""

LOOK = 4
"""Full iterations between two looks at whether some clones can be left out."""


class Training(NamedTuple):
    """A trained model, and what the model scored before every iteration, in nats: of the paths that were looked at."""

    model: Model
    objective: list[float]


class Rule(NamedTuple):
    """How counts become weights, and what that costs the objective: all of them, or the few of a trellis.

    `weigh` may write over the array that it is given.
    """

    weigh: Callable[[Model, Counts, NDArray[np.floating] | None], tuple[cpu.Weights, float]]
    weigh_few: WeighFew


def em(
    model: Model,
    experience: Experience,
    *,
    iterations: int = 100,
    tolerance: float = 1e-6,
    prune: float = PRUNE,
) -> Training:
    """Return the model after expectation-maximisation of the penalised likelihood, theory (7).

    Stops when an iteration moves the log-likelihood by less than `tolerance` nats per step. That is the objective
    recorded; what never falls is its sum with `log_prior`, which costs more than an iteration to compute.
    """
    return train(model, experience, rule=MEANS, iterations=iterations, tolerance=tolerance, prune=prune)


def train(
    model: Model, experience: Experience, *, rule: Rule, iterations: int, tolerance: float, prune: float
) -> Training:
    """Return the model after expected counts became weights by a rule, again and again.

    Where messages have become nearly one-hot, iterations go over the clones that matter: what is left out costs at most
    `prune` nats per step each time it is chosen, and at 0, or without a pseudocount, nothing is left out.
    """

    def done(objective: list[float]) -> bool:
        return settled(objective, experience, tolerance)

    if model.pseudocount == 0:
        prune = 0.0  # what is left out would weigh nothing for good
    steps, counts = bind(model, experience), Counts(model.counts, model.starts)
    used: NDArray[np.floating] | None = None
    objective: list[float] = []
    look = 0
    while len(objective) < iterations:
        weights, cost = rule.weigh(model, counts, used)
        messages, cycle, used = pass_messages(steps, weights), None, weights.values
        if prune > 0 and len(objective) >= look:
            cycle = restricted_training(
                model,
                steps,
                weights=weights,
                cost=cost,
                messages=messages,
                weigh=rule.weigh_few,
                share=prune,
                iterations=min(CYCLE, iterations - len(objective)),
                settled=done,
            )
        if cycle is None:
            room = None if counts.transitions is model.counts else counts.transitions
            counts = expected_counts(steps, weights, messages, out=room)
            scores = [messages.log_likelihood - cost]
            look = len(objective) + LOOK if len(objective) >= look else look
        else:
            counts, scores = cycle
        objective += scores
        # A cycle that settles after more than one iteration has changed something, so all clones are asked again.
        if done(objective) and len(scores) <= 2:
            break
    return Training(replace(model, counts=counts.transitions, starts=counts.starts), objective)


def _weigh(model: Model, counts: Counts, out: NDArray[np.floating] | None) -> tuple[cpu.Weights, float]:
    totals = row_totals(model.blocks, model.n_actions, counts.transitions)
    return mean_weights(model.blocks, totals, *counts, model.pseudocount, out=out), 0.0


def _weigh_few(model: Model, trellis: pruned.Trellis, counts: NDArray[np.float64], starts: NDArray[np.float64]) -> Few:
    n_rows = model.n_actions * model.layout.n_states
    weight = pruned.maximise(trellis, counts, n_rows, model.pseudocount, model.layout.n_states)
    return Few(weight, start_probabilities(starts, model.pseudocount), 0.0)


MEANS = Rule(_weigh, _weigh_few)
"""The mean transition and start probabilities, theory (6)."""


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
