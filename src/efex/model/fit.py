"""Fitting a model to an experience: random starts of EM, then splitting and merging as long as that helps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.kernels.threads import threads_for
from efex.model.aliasing import PLACE
from efex.model.allocation import Allocation
from efex.model.chance import left_to_chance
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import explanation, marginal_likelihood
from efex.model.methods import Method, check_method, refine
from efex.model.moves import Moves, displacements
from efex.model.pseudocount import ROW, Pseudocount, per_target, positive
from efex.model.reckoning import reckoned
from efex.model.restarts import Refit
from efex.model.split_merge import SplitMerge
from efex.model.throwing import unthrown


def fit(
    experience: Experience,
    allocation: Allocation,
    *,
    method: Method = "em+viterbi",
    pseudocount: Pseudocount = ROW,
    restarts: int = 1,
    iterations: int = 100,
    tolerance: float = 1e-6,
    patience: int = 5,
    rng: np.random.Generator,
) -> Model:
    """Return the best of `restarts` models learned from random starts, with more clones as long as that pays.

    Its places are then split and merged, until that has found nothing better `patience` times in a row; once more
    without reckoning where they are, should that lead astray. Where chance explains more, it is one place for every
    observation. Models are compared by the marginal likelihood of their decoded paths, theory (10).
    """
    if len(experience) == 0:
        raise InvalidArgumentError("experience must hold at least one observation; it is empty")
    whole("restarts", restarts, at_least=1)
    whole("iterations", iterations, at_least=1)
    whole("patience", patience, at_least=0)
    check_method(method)
    positive("pseudocount", pseudocount)
    fitting = _Fitting(experience, allocation, method, pseudocount, rng)
    with threads_for(len(experience)):
        best = fitting.begin(restarts, iterations, tolerance)
        if patience == 0:
            return best
        moves = displacements(experience, actions=unthrown(best.decode(experience).path, experience))
        best = fitting.search(best, patience, moves)
        if moves.any() and not reckoned(best.decode(experience).path, experience).is_trusted:
            moves = np.zeros_like(moves)
            best = fitting.search(best, patience, moves)
        return left_to_chance(best, best.decode(experience).path, experience, moves=moves)


@dataclass(frozen=True)
class _Fitting:
    """What a fit is given."""

    experience: Experience
    allocation: Allocation
    method: Method
    pseudocount: Pseudocount
    rng: np.random.Generator

    def begin(self, restarts: int, iterations: int, tolerance: float) -> Model:
        """Return the best of several models after EM, with more clones as long as that pays."""
        best = self._best_start(self.allocation.first(self.experience), restarts, iterations, tolerance)
        while (grown := self._grown(best)) != best.layout:
            larger = self._best_start(grown, restarts, iterations, tolerance)
            if explanation(larger, self.experience) <= explanation(best, self.experience):
                break
            best = larger
        return best

    def search(self, best: Model, patience: int, moves: Moves) -> Model:
        """Return the model after places were split and merged until that was in vain `patience` times in a row.

        A search that prefers more places finds more. Nobody is going to look again whether two of them are two, so
        that in the end neither is preferred.
        """
        for place in (PLACE, 0.0):
            idle = 0
            while idle < patience:
                found, is_better = self._searched(best, place, moves)
                best, idle = (found, 0) if is_better else (best, idle + 1)
        return best

    def _searched(self, best: Model, place: float, moves: Moves) -> tuple[Model, bool]:
        """Return what one search found, and whether its path is likelier."""
        search = SplitMerge(place=place, reckon=bool(moves.any()), chance=False)
        layout = self._grown(best)
        found = self._refit(search, best, layout)
        if (wider := self.allocation.widened(layout, found.wanted, self.experience)) != layout:
            layout, found = wider, self._refit(search, best, wider)
        # A prior per target weighs more where there are more clones: both paths are judged by the same one.
        weight = per_target(self.pseudocount, layout.n_states) * layout.n_states
        before, after = (
            marginal_likelihood(path, self.experience, weight=weight, place=place, moves=moves)
            for path in (model.decode(self.experience).path for model in (best, found.model))
        )
        return found.model, after > before + 1e-9 * abs(before)

    def _refit(self, search: SplitMerge, best: Model, layout: CloneLayout) -> Refit:
        last = replace(best, pseudocount=per_target(self.pseudocount, layout.n_states))
        return search(last, self.experience, layout, method=self.method, turn=1, rng=self.rng)

    def _grown(self, best: Model) -> CloneLayout:
        return self.allocation.grown(best.layout, best.decode(self.experience).path, self.experience)

    def _best_start(self, layout: CloneLayout, restarts: int, iterations: int, tolerance: float) -> Model:
        """Return the best of several models of one layout, by the marginal likelihood of its decoded path."""
        alpha, walks = per_target(self.pseudocount, layout.n_states), self.experience
        starts = (Model.random(walks, layout, pseudocount=alpha, rng=self.rng) for _ in range(restarts))
        models = [
            refine(start, walks, method=self.method, iterations=iterations, tolerance=tolerance)[1] for start in starts
        ]
        return models[0] if restarts == 1 else max(models, key=lambda model: explanation(model, walks))
