"""SplitMerge: a path improved by splitting places that may be two and merging those that may be one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from efex.checks import flag, whole
from efex.experience import Experience
from efex.kernels.merging import HOPELESS
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import marginal_likelihood
from efex.model.merging import merge
from efex.model.methods import Method, refine
from efex.model.restarts import Refit, Restart
from efex.model.splitting import counted, named_after, split
from efex.model.viterbi_training import from_path, viterbi_training

TEMPERATURE = 5.0
"""In nats: how much less a union may gain than another and still be tried about as often."""

Path = NDArray[np.int64]


@dataclass(frozen=True)
class SplitMerge(Restart):
    """The last path is improved by splitting places and merging them, as long as that makes it likelier.

    Splitting: every place gets a copy, EM finds out which copies explain more, and what was needlessly split is merged.
    Merging: two places that nearly are one become one, and everything is decoded again; `unions` such pairs are tried.
    A path is kept if it is likelier with all transitions integrated out, theory (10), and as long as one is,
    another round follows, `rounds` at most.
    """

    rounds: int = 4
    iterations: int = 30
    unions: int = 4
    split: bool = True
    merge: bool = True
    takes_spare_clones = True

    def __post_init__(self) -> None:
        whole("rounds", self.rounds, at_least=0)
        whole("iterations", self.iterations, at_least=1)
        whole("unions", self.unions, at_least=0)
        flag("split", self.split)
        flag("merge", self.merge)

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
        """Return the model of the best path found."""
        search = _Search(self, experience, layout, method, last.pseudocount * layout.n_states, rng)
        carried = viterbi_training(last.carried(experience, layout), experience).model
        model = from_path(carried, experience, search.improve(carried.decode(experience).path))
        return Refit(model, model)


@dataclass
class _Search:
    """The rounds of one refit."""

    how: SplitMerge
    experience: Experience
    layout: CloneLayout
    method: Method
    weight: float
    rng: np.random.Generator

    def improve(self, path: Path) -> Path:
        """Return the best path found from `path`."""
        self.path = self._merged(path)
        self.score = self._score(self.path)
        for _ in range(self.how.rounds):
            before = self.score
            if self.how.split:
                self._try_splitting()
            if self.how.merge:
                self._try_merging()
            if self.score == before:
                break
        return self.path

    def _try_splitting(self) -> None:
        start = split(self.path, self.experience, self.layout, weight=self.weight, rng=self.rng)
        _, model = refine(start, self.experience, method=self.method, iterations=self.how.iterations, tolerance=1e-6)
        self._settle(model.decode(self.experience).path)

    def _try_merging(self) -> None:
        """Unite pairs that lose little; what is decoded again may find that it was worth it."""
        _, pairs, gains = merge(self.path, self.experience, weight=self.weight)
        pairs, gains = pairs[gains > HOPELESS], gains[gains > HOPELESS]
        luck = gains / TEMPERATURE + self.rng.gumbel(size=len(gains))
        for keep, drop in pairs[np.argsort(-luck)[: self.how.unions]]:
            path = self._decoded_again(np.where(self.path == drop, keep, self.path))
            # Where it is no better before merging, it hardly ever is after it.
            if self._score(path) > self.score and self._settle(path):
                return

    def _decoded_again(self, path: Path) -> Path:
        """Return what Viterbi training makes of a path."""
        model = counted(path, self.experience, weight=self.weight)
        return viterbi_training(model, self.experience, iterations=4).model.decode(self.experience).path

    def _settle(self, path: Path) -> bool:
        """Merge; return whether the path is then the better one, and if so, keep it."""
        path = self._merged(path)
        score = self._score(path)
        if score <= self.score + 1e-9 * abs(self.score):
            return False
        self.path, self.score = named_after(path, self.path, self.experience, self.layout), score
        return True

    def _merged(self, path: Path) -> Path:
        return merge(path, self.experience, weight=self.weight).path if self.how.merge else path

    def _score(self, path: Path) -> float:
        return marginal_likelihood(path, self.experience, weight=self.weight)
