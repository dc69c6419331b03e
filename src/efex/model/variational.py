"""Variational Bayes for the clone-structured HMM: Dirichlet posteriors over rows instead of point estimates."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import cpu
from efex.model.cscg import Model
from efex.model.em import Training, settled
from efex.model.expectation import bind, expected_counts, pass_messages
from efex.special import gammaln, psi

ITERATIONS = 50
"""After how many updates it ends, at most."""

LEAST_LOG_WEIGHT = -600.0
"""Where exp E[log p] is cut off, so that it stays a positive double."""


def variational_bayes(
    model: Model, experience: Experience, *, iterations: int = ITERATIONS, tolerance: float = 1e-6
) -> Training:
    """Return the model after mean-field updates of Dirichlet posteriors over rows, theory (9).

    The pseudocount is the Dirichlet prior. Weights exp E[log p] punish small counts, so rows become sparse.
    """
    model = replace(model, counts=model.counts.astype(np.float64))
    steps = bind(model, experience)
    objective: list[float] = []
    for _ in range(iterations):
        weights = geometric_weights(model)
        messages = pass_messages(steps, weights)
        objective.append(messages.log_likelihood - prior_divergence(model))
        counts = expected_counts(steps, weights, messages)
        model = replace(model, counts=counts.transitions, starts=counts.starts)
        if settled(objective, experience, tolerance):
            break
    return Training(model, objective)


def geometric_weights(model: Model) -> cpu.Weights:
    """Return exp E[log p] under Dirichlet(counts + pseudocount) for every transition and start."""
    prior, n = model.pseudocount, model.layout.n_states
    total, (held, counts, row) = psi(model.totals + prior * n), _held(model)
    background = _exp(psi(prior) - total)
    values = background.ravel()[model.blocks.row]
    values[held] = _exp(psi(counts + prior) - total.ravel()[row])
    initial = _exp(psi(model.starts + prior) - psi(model.starts.sum() + prior * n))
    return cpu.Weights(model.layout.first, model.blocks.start, values, background, initial)


def prior_divergence(model: Model) -> float:
    """Return KL(posterior over rows and starts || prior), in nats."""
    prior, n = model.pseudocount, model.layout.n_states
    _, counts, row = _held(model)
    blocks = _divergence_terms(counts, prior, psi(model.totals + prior * n).ravel()[row]).sum()
    totals = (gammaln(model.totals + prior * n) - gammaln(prior * n)).sum()
    episodes = model.starts.sum()
    starts = _divergence_terms(model.starts, prior, psi(episodes + prior * n)).sum()
    return float(blocks + totals + starts + gammaln(episodes + prior * n) - gammaln(prior * n))


class Held(NamedTuple):
    """Which counts add anything to the prior, what they are, and the (action, state) rows that they are in."""

    at: NDArray[np.int64]
    counts: NDArray[np.floating]
    row: NDArray[np.int64]


def _held(model: Model) -> Held:
    """Return the counts that add anything to the prior: soon those are few, and all others weigh as the background."""
    at = np.flatnonzero(model.counts + model.pseudocount > model.pseudocount)
    return Held(at, model.counts[at], model.blocks.row[at])


def _exp(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what positive doubles can hold of e to these powers."""
    return np.asarray(np.exp(np.maximum(logarithms, LEAST_LOG_WEIGHT)))


def _divergence_terms(
    counts: NDArray[np.floating], prior: float, log_total: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return the entry-wise part of the divergence, which is zero where the count is."""
    posterior = counts + prior
    return gammaln(prior) - gammaln(posterior) + counts * (psi(posterior) - log_total)
