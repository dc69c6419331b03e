"""Expectation-maximisation: expected counts under the mean weights become the next counts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.model.cscg import Model, mean_weights, row_totals
from efex.model.expectation import Counts, bind, expected_counts, pass_messages
from efex.model.pruning import restricted_em

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
    recorded; what never falls is its sum with `log_prior`, which costs more than an iteration to compute. Where
    messages have become nearly one-hot, iterations go over the clones that matter: what is left out costs at most
    `prune` nats per step each time it is chosen, and at 0, or without a pseudocount, nothing is left out.
    """

    def done(objective: list[float]) -> bool:
        return settled(objective, experience, tolerance)

    if model.pseudocount == 0:
        prune = 0.0  # what is left out would weigh nothing for good
    steps, weights = bind(model, experience), model.weights
    counts = Counts(model.counts, model.starts)
    objective: list[float] = []
    look = 0
    while len(objective) < iterations:
        messages, cycle = pass_messages(steps, weights), None
        if prune > 0 and len(objective) >= look:
            left = min(CYCLE, iterations - len(objective))
            cycle = restricted_em(model, steps, weights, messages, share=prune, iterations=left, settled=done)
        if cycle is None:
            counts = expected_counts(steps, weights, messages, out=_room(counts.transitions, model.counts))
            scores = [messages.log_likelihood]
            look = len(objective) + LOOK if len(objective) >= look else look
        else:
            counts, scores = cycle
        objective += scores
        # A cycle that settles after more than one iteration has changed something, so all clones are asked again.
        if done(objective) and len(scores) <= 2:
            break
        totals = row_totals(model.blocks, model.n_actions, counts.transitions)
        room = _room(weights.values, model.weights.values)
        weights = mean_weights(model.blocks, totals, *counts, model.pseudocount, out=room)
    return Training(replace(model, counts=counts.transitions, starts=counts.starts), objective)


def _room(used: NDArray[np.floating], taken: NDArray[np.floating]) -> NDArray[np.floating] | None:
    """Return memory that may be written over: `used`, unless it belongs to the model that was given."""
    return None if used is taken else used


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
