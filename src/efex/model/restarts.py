"""Where a refit begins: at the last model, at random, or at both with the better one kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from efex.experience import Experience
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import explanation
from efex.model.methods import Method, refine


class Refit(NamedTuple):
    """What a refit gives: where the next one starts, after EM alone or without chance, and what is believed.

    `wanted` says how many clones it would have taken of every observation for something likelier.
    """

    soft: Model
    model: Model
    wanted: tuple[int, ...] = ()


class Restart(ABC):
    """Learns from all experience so far, given what the last refit found."""

    takes_spare_clones = False
    """Whether more clones than needed do no harm, so that nobody need ask whether they pay."""

    reckon = False
    """Whether it learns from where places are reckoned to be."""

    @property
    def brief(self) -> Restart | None:
        """The same with as little work as will do to take in a few steps, None where there is no such thing."""
        return None

    @abstractmethod
    def __call__(
        self,
        last: Model,
        experience: Experience,
        layout: CloneLayout,
        *,
        method: Method,
        turn: int,
        rng: np.random.Generator,
    ) -> Refit:
        """Return the refit, the `turn`-th of this run."""


class Single(Restart):
    """One start, from which EM goes on for so many iterations."""

    iterations: int

    @abstractmethod
    def begin(self, last: Model, experience: Experience, layout: CloneLayout, *, rng: np.random.Generator) -> Model:
        """Return the model that EM starts from."""

    def __call__(
        self,
        last: Model,
        experience: Experience,
        layout: CloneLayout,
        *,
        method: Method,
        turn: int,
        rng: np.random.Generator,
    ) -> Refit:
        """Return the refit from this start."""
        start = self.begin(last, experience, layout, rng=rng)
        return Refit(*refine(start, experience, method=method, iterations=self.iterations, tolerance=1e-6))


@dataclass(frozen=True)
class Warm(Single):
    """EM goes on from the last model."""

    iterations: int = 20

    def begin(self, last: Model, experience: Experience, layout: CloneLayout, *, rng: np.random.Generator) -> Model:
        """Return the last model, with noise enough for unused clones to differ."""
        return last.carried(experience, layout).jittered(rng)


@dataclass(frozen=True)
class Fresh(Single):
    """EM begins at random."""

    iterations: int = 100

    def begin(self, last: Model, experience: Experience, layout: CloneLayout, *, rng: np.random.Generator) -> Model:
        """Return a random model."""
        return Model.random(experience, layout, pseudocount=last.pseudocount, rng=rng)


@dataclass(frozen=True)
class Rivals(Restart):
    """EM goes on from the last model, and every so many refits a fresh start competes with it.

    A warm start keeps its mistakes for ever; a fresh one does not know them. The one whose decoded path has the
    higher marginal likelihood is kept.
    """

    every: int = 2
    warm: Restart = Warm()
    fresh: Restart = Fresh()

    def __call__(
        self,
        last: Model,
        experience: Experience,
        layout: CloneLayout,
        *,
        method: Method,
        turn: int,
        rng: np.random.Generator,
    ) -> Refit:
        """Return the better of the refits from the last model and from a random start."""
        warm = self.warm(last, experience, layout, method=method, turn=turn, rng=rng)
        if turn % self.every:
            return warm
        fresh = self.fresh(last, experience, layout, method=method, turn=turn, rng=rng)
        return max(warm, fresh, key=lambda refit: explanation(refit.model, experience))
