"""Variational Bayes for the clone-structured HMM: Dirichlet posteriors over rows instead of point estimates."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import cpu, pruned
from efex.model.cscg import Model
from efex.model.em import PRUNE, Rule, Training, train
from efex.model.expectation import Counts
from efex.model.pruning import Few
from efex.special import gammaln, psi

ITERATIONS = 50
"""After how many updates it ends, at most."""

LEAST_LOG_WEIGHT = -600.0
"""Where exp E[log p] is cut off, so that it stays a positive double."""


def variational_bayes(
    model: Model,
    experience: Experience,
    *,
    iterations: int = ITERATIONS,
    tolerance: float = 1e-6,
    prune: float = PRUNE,
) -> Training:
    """Return the model after mean-field updates of Dirichlet posteriors over rows, theory (9).

    The pseudocount is the Dirichlet prior. Weights exp E[log p] punish small counts, so rows become sparse. The bound
    recorded never falls but for what is left out, as by EM: `prune` nats per step, at most, each time that is chosen.
    """
    model = replace(model, counts=model.counts.astype(np.float64))
    return train(model, experience, rule=GEOMETRIC_MEANS, iterations=iterations, tolerance=tolerance, prune=prune)


def _weigh(model: Model, counts: Counts, _: NDArray[np.floating] | None) -> tuple[cpu.Weights, float]:
    posterior = replace(model, counts=counts.transitions, starts=counts.starts)
    return geometric_weights(posterior), prior_divergence(posterior)


def _weigh_few(model: Model, trellis: pruned.Trellis, counts: NDArray[np.float64], starts: NDArray[np.float64]) -> Few:
    prior, n = model.pseudocount, model.layout.n_states
    totals = np.asarray(np.bincount(trellis.row, counts, minlength=model.n_actions * n), np.float64)
    log_total = psi(totals + prior * n)[trellis.row]
    cost = _divergence(counts, log_total, totals, starts, prior=prior, n=n)
    return Few(_exp(psi(counts + prior) - log_total), _start_weights(starts, prior), cost)


GEOMETRIC_MEANS = Rule(_weigh, _weigh_few)
"""The weights of theory (9), and how far the posterior is from the prior."""


def geometric_weights(model: Model) -> cpu.Weights:
    """Return exp E[log p] under Dirichlet(counts + pseudocount) for every transition and start."""
    prior, n = model.pseudocount, model.layout.n_states
    total, (held, counts, row) = psi(model.totals + prior * n), _held(model)
    background = _exp(psi(prior) - total)
    values = background.ravel()[model.blocks.row]
    values[held] = _exp(psi(counts + prior) - total.ravel()[row])
    return cpu.Weights(model.layout.first, model.blocks.start, values, background, _start_weights(model.starts, prior))


def _start_weights(starts: NDArray[np.float64], prior: float) -> NDArray[np.float64]:
    return _exp(psi(starts + prior) - psi(starts.sum() + prior * len(starts)))


def prior_divergence(model: Model) -> float:
    """Return KL(posterior over rows and starts || prior), in nats."""
    prior, n = model.pseudocount, model.layout.n_states
    _, counts, row = _held(model)
    log_total = psi(model.totals + prior * n).ravel()[row]
    return _divergence(counts, log_total, model.totals, model.starts, prior=prior, n=n)


def _divergence(
    counts: NDArray[np.floating],
    log_total: NDArray[np.float64],
    totals: NDArray[np.float64],
    starts: NDArray[np.float64],
    *,
    prior: float,
    n: int,
) -> float:
    """Return the divergence of rows that hold such counts beside such E[log] of their totals, and of the starts."""
    entries = _divergence_terms(counts, prior, log_total).sum()
    rows = (gammaln(totals + prior * n) - gammaln(prior * n)).sum()
    episodes = starts.sum()
    first = _divergence_terms(starts, prior, psi(episodes + prior * n)).sum()
    return float(entries + rows + first + gammaln(episodes + prior * n) - gammaln(prior * n))


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
