"""Fitting a model to an experience: random starts, EM, then Viterbi training or variational Bayes."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.model.allocation import Allocation
from efex.model.cscg import Model
from efex.model.em import em
from efex.model.pseudocount import PAPER, Pseudocount, per_target
from efex.model.variational import variational_bayes
from efex.model.viterbi_training import viterbi_training

Method = Literal["em", "em+viterbi", "em+vb"]


def refine(
    model: Model, experience: Experience, *, method: Method, iterations: int, tolerance: float
) -> tuple[Model, Model]:
    """Return the model after EM, and after what `method` runs behind it."""
    if method not in get_args(Method):
        raise InvalidArgumentError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")
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
    """Return the best of `restarts` models learned from random starts, with more clones as long as they are asked for.

    The best one gives its own likeliest path the highest probability.
    """
    if len(experience) == 0:
        raise InvalidArgumentError("experience must hold at least one observation; it is empty")
    if restarts < 1 or iterations < 1:
        raise InvalidArgumentError(f"restarts and iterations must be at least 1, not {restarts} and {iterations}")
    layout = allocation.first(experience)
    while True:
        scored = []
        for _ in range(restarts):
            alpha = per_target(pseudocount, layout.n_states)
            start = Model.random(experience, layout, pseudocount=alpha, rng=rng)
            _, model = refine(start, experience, method=method, iterations=iterations, tolerance=tolerance)
            scored.append((model.decode(experience), model))
        decoding, best = max(scored, key=lambda pair: pair[0].log_probability)
        grown = allocation.grown(layout, decoding.path)
        if grown == layout:
            return best
        layout = grown
