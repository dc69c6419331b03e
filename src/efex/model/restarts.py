"""Where a refit begins: at the last model, at random, or at both with the better one kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from efex.experience import Experience
from efex.model.cscg import Model
from efex.model.fit import Method, refine
from efex.model.layout import CloneLayout


class Refit(NamedTuple):
    """What a refit gives: the model after EM, where the next one starts, and after what follows EM."""

    soft: Model
    model: Model


class Restart(ABC):
    """Learns from all experience so far, given what the last refit found."""

    @abstractmethod
    def __call__(
        self,
        last: Model,
        experience: Experience,
        layout: CloneLayout,
        *,
        method: Method,
        rng: np.random.Generator,
    ) -> Refit:
        """Return the refit."""


@dataclass(frozen=True)
class Warm(Restart):
    """EM goes on from the last model."""

    iterations: int = 20

    def __call__(
        self, last: Model, experience: Experience, layout: CloneLayout, *, method: Method, rng: np.random.Generator
    ) -> Refit:
        """Return the refit from the last model."""
        start = last.carried(experience, layout).jittered(rng)
        return Refit(*refine(start, experience, method=method, iterations=self.iterations, tolerance=1e-6))


@dataclass(frozen=True)
class Fresh(Restart):
    """EM begins at random."""

    iterations: int = 100

    def __call__(
        self, last: Model, experience: Experience, layout: CloneLayout, *, method: Method, rng: np.random.Generator
    ) -> Refit:
        """Return the refit from a random start."""
        start = Model.random(experience, layout, pseudocount=last.pseudocount, rng=rng)
        return Refit(*refine(start, experience, method=method, iterations=self.iterations, tolerance=1e-6))


class Rivals(Restart):
    """EM goes on from the last model, and every so many refits a fresh start competes with it.

    A warm start keeps its mistakes for ever; a fresh one does not know them. The one whose decoded path has the
    higher marginal likelihood is kept.
    """

    def __init__(self, *, every: int = 2, warm: Warm | None = None, fresh: Fresh | None = None) -> None:
        self.every = every
        self.warm = warm or Warm()
        self.fresh = fresh or Fresh()
        self._refits = 0

    def __call__(
        self, last: Model, experience: Experience, layout: CloneLayout, *, method: Method, rng: np.random.Generator
    ) -> Refit:
        """Return the better of the refits from the last model and from a random start."""
        self._refits += 1
        warm = self.warm(last, experience, layout, method=method, rng=rng)
        if self._refits % self.every:
            return warm
        fresh = self.fresh(last, experience, layout, method=method, rng=rng)
        return max(warm, fresh, key=lambda refit: marginal_likelihood(refit.model, experience))


def marginal_likelihood(model: Model, experience: Experience) -> float:
    """Return the log-probability of the model's decoded path with every row's transitions integrated out, theory (10).

    The prior over rows is Dirichlet with the model's pseudocount, so states that are used without need cost.
    """
    path: NDArray[np.int64] = model.decode(experience).path
    t = np.flatnonzero(experience.actions >= 0)
    n, prior = model.layout.n_states, model.pseudocount
    row = path[t] * model.n_actions + experience.actions[t]
    _, counts = np.unique(row * n + path[t + 1], return_counts=True)
    _, totals = np.unique(row, return_counts=True)
    entries = (gammaln(counts + prior) - gammaln(prior)).sum()
    return float(entries + (gammaln(prior * n) - gammaln(totals + prior * n)).sum())
