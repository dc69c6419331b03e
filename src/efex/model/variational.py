"""Variational Bayes for the clone-structured HMM: Dirichlet posteriors over rows instead of point estimates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import cpu
from efex.model.cscg import Model
from efex.model.em import Training, settled
from efex.model.expectation import bind, expected_counts, pass_messages
from efex.special import gammaln, psi

LEAST_LOG_WEIGHT = -600.0
"""Where exp E[log p] is cut off, so that it stays a positive double."""


def variational_bayes(
    model: Model, experience: Experience, *, iterations: int = 50, tolerance: float = 1e-6
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
    total = psi(model.totals + prior * n)
    mean = model.weights
    log_values = np.maximum(psi(model.counts + prior) - _spread(model, total), LEAST_LOG_WEIGHT)
    background = np.exp(np.maximum(psi(prior) - total, LEAST_LOG_WEIGHT))
    log_starts = psi(model.starts + prior) - psi(model.starts.sum() + prior * n)
    return mean._replace(
        values=np.exp(log_values),
        background=background,
        initial=np.exp(np.maximum(log_starts, LEAST_LOG_WEIGHT)),
    )


def prior_divergence(model: Model) -> float:
    """Return KL(posterior over rows and starts || prior), in nats."""
    prior, n = model.pseudocount, model.layout.n_states
    blocks = _divergence_terms(model.counts, prior, _spread(model, psi(model.totals + prior * n))).sum()
    totals = (gammaln(model.totals + prior * n) - gammaln(prior * n)).sum()
    episodes = model.starts.sum()
    starts = _divergence_terms(model.starts, prior, psi(episodes + prior * n)).sum()
    return float(blocks + totals + starts + gammaln(episodes + prior * n) - gammaln(prior * n))


def _spread(model: Model, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number of every (action, state) row laid out like the counts."""
    return rows.ravel()[model.blocks.row]


def _divergence_terms(
    counts: NDArray[np.floating], prior: float, log_total: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return the entry-wise part of the divergence; it is zero where the count is zero."""
    posterior = counts + prior
    return gammaln(prior) - gammaln(posterior) + counts * (psi(posterior) - log_total)
