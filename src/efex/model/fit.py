"""Fitting a model to an experience: random starts, EM, then Viterbi training or variational Bayes."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.model.allocation import Allocation
from efex.model.cscg import Model
from efex.model.em import em
from efex.model.layout import CloneLayout
from efex.model.marginal import marginal_likelihood
from efex.model.pseudocount import PAPER, Pseudocount, per_target, positive
from efex.model.variational import variational_bayes
from efex.model.viterbi_training import viterbi_training

Method = Literal["em", "em+viterbi", "em+vb"]


def check_method(method: str) -> None:
    """Raise InvalidArgumentError unless `method` is one there is."""
    if method not in get_args(Method):
        raise InvalidArgumentError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")


def refine(
    model: Model, experience: Experience, *, method: Method, iterations: int, tolerance: float
) -> tuple[Model, Model]:
    """Return the model after EM, and after what `method` runs behind it."""
    check_method(method)
    soft = em(model, experience, iterations=iterations, tolerance=tolerance).model
    if method == "em":
        return soft, soft
    if method == "em+vb":
        return soft, variational_bayes(soft, experience, tolerance=tolerance).model
    return soft, viterbi_training(soft, experience).model


def fit(
    experience: Experience,
    allocation: Allocation,
    *,
    method: Method = "em+viterbi",
    pseudocount: Pseudocount = PAPER,
    restarts: int = 1,
    iterations: int = 100,
    tolerance: float = 1e-6,
    rng: np.random.Generator,
) -> Model:
    """Return the best of `restarts` models learned from random starts, with more clones as long as that pays.

    Models are compared by the marginal likelihood of their decoded paths, theory (10).
    """
    if len(experience) == 0:
        raise InvalidArgumentError("experience must hold at least one observation; it is empty")
    whole("restarts", restarts, at_least=1)
    whole("iterations", iterations, at_least=1)
    positive("pseudocount", pseudocount)
    layout = allocation.first(experience)
    best = _best_start(experience, layout, method, pseudocount, restarts, iterations, tolerance, rng)
    while (grown := allocation.grown(best.layout, best.decode(experience).path, experience)) != best.layout:
        larger = _best_start(experience, grown, method, pseudocount, restarts, iterations, tolerance, rng)
        if marginal_likelihood(larger, experience) <= marginal_likelihood(best, experience):
            break
        best = larger
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
    return models[0] if restarts == 1 else max(models, key=lambda model: marginal_likelihood(model, experience))
