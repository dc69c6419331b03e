"""The E-step: messages along every walk, and the counts they make one expect."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import cpu
from efex.model.cscg import Model, raise_failed


class Steps(NamedTuple):
    """An experience bound to a model's blocks, its steps also listed by block."""

    walks: cpu.Walks
    at: NDArray[np.int64]
    order: NDArray[np.int64]
    bounds: NDArray[np.int64]


class Messages(NamedTuple):
    """The scaled forward and backward messages of all walks, the norm of every step, and the log-likelihood."""

    forward: NDArray[np.floating]
    backward: NDArray[np.floating]
    norms: NDArray[np.float64]
    log_likelihood: float


class Counts(NamedTuple):
    """Expected counts of every stored transition, and of every state as the first of an episode."""

    transitions: NDArray[np.floating]
    starts: NDArray[np.float64]


def bind(model: Model, experience: Experience) -> Steps:
    """Return `experience` as the E-step takes it."""
    walks = model.blocks.bind(experience)
    if model.blocks.are_of(experience):
        order, bounds = experience.triples.order, experience.triples.bounds
    else:
        order = np.argsort(walks.block, kind="stable")
        bounds = np.searchsorted(walks.block[order], np.arange(len(model.blocks) + 1))
    return Steps(walks, cpu.positions(walks, model.weights), order, bounds)


def pass_messages(steps: Steps, weights: cpu.Weights) -> Messages:
    """Return the messages of all walks under `weights`, theory (2) and (3)."""
    walks, at = steps.walks, steps.at
    forward, backward, norms, log_likelihood, failed = cpu.smooth_walks(walks, weights, at)
    raise_failed(failed, walks.offsets)
    return Messages(forward, backward, norms, float(log_likelihood.sum()))


def expected_counts(
    steps: Steps, weights: cpu.Weights, messages: Messages, *, out: NDArray[np.floating] | None = None
) -> Counts:
    """Return the expected counts under `weights`, theory (4); `out` may lend its memory."""
    walks, at, order, bounds = steps
    forward, backward, norms, _ = messages
    counts = np.empty_like(weights.values) if out is None else out
    cpu.accumulate(walks, weights, at, forward, backward, norms, order, bounds, counts)
    return Counts(counts, cpu.start_counts(walks, weights, at, forward, backward))
