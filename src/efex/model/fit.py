"""Fitting a model to an experience: random starts of EM, then splitting and merging as long as that helps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.model.allocation import Allocation
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import explanation, marginal_likelihood
from efex.model.methods import Method, check_method, refine
from efex.model.pseudocount import ROW, Pseudocount, per_target, positive
from efex.model.reckoning import displacements, reckoned
from efex.model.split_merge import SplitMerge
from efex.model.transitions import PLACE


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
    without reckoning where they are, should that lead astray. Models are compared by the marginal likelihood of their
    decoded paths, theory (10).
    """
    if len(experience) == 0:
        raise InvalidArgumentError("experience must hold at least one observation; it is empty")
    whole("restarts", restarts, at_least=1)
    whole("iterations", iterations, at_least=1)
    whole("patience", patience, at_least=0)
    check_method(method)
    positive("pseudocount", pseudocount)
    layout = allocation.first(experience)
    best = _best_start(experience, layout, method, pseudocount, restarts, iterations, tolerance, rng)
    while (grown := allocation.grown(best.layout, best.decode(experience).path, experience)) != best.layout:
        larger = _best_start(experience, grown, method, pseudocount, restarts, iterations, tolerance, rng)
        if explanation(larger, experience) <= explanation(best, experience):
            break
        best = larger
    moves = displacements(experience)
    best = _searched(best, experience, allocation, method, pseudocount, patience, rng, moves=moves)
    if moves.any() and not reckoned(best.decode(experience).path, experience).is_trusted:
        best = _searched(best, experience, allocation, method, pseudocount, patience, rng, moves=None)
    return best


def _searched(
    best: Model,
    experience: Experience,
    allocation: Allocation,
    method: Method,
    pseudocount: Pseudocount,
    patience: int,
    rng: np.random.Generator,
    *,
    moves: NDArray[np.int64] | None,
) -> Model:
    """Return the model after places were split and merged until that was in vain `patience` times in a row."""
    # Nobody is going to look again whether two places are two: the odds of the paths compared are those of PLACE.
    search, idle = SplitMerge(place=PLACE, reckon=moves is not None), 0
    while idle < patience:
        path = best.decode(experience).path
        layout = allocation.grown(best.layout, path, experience)
        last = replace(best, pseudocount=per_target(pseudocount, layout.n_states))
        found = search(last, experience, layout, method=method, turn=1, rng=rng).model
        # A prior per target weighs more where there are more clones: both paths are judged by the same one.
        weight = last.pseudocount * layout.n_states
        before, after = (
            marginal_likelihood(each, experience, weight=weight, moves=moves)
            for each in (path, found.decode(experience).path)
        )
        idle += 1
        if after > before + 1e-9 * abs(before):
            best, idle = found, 0
    return best


def _best_start(
    experience: Experience,
    layout: CloneLayout,
    method: Method,
    pseudocount: Pseudocount,
    restarts: int,
    iterations: int,
    tolerance: float,
    rng: np.random.Generator,
) -> Model:
    """Return the best of several models of one layout, by the marginal likelihood of its decoded path."""
    alpha = per_target(pseudocount, layout.n_states)
    starts = (Model.random(experience, layout, pseudocount=alpha, rng=rng) for _ in range(restarts))
    models = [
        refine(start, experience, method=method, iterations=iterations, tolerance=tolerance)[1] for start in starts
    ]
    return models[0] if restarts == 1 else max(models, key=lambda model: explanation(model, experience))
