"""Methods: what follows EM when a model is refined, nothing, Viterbi training or variational Bayes."""

from __future__ import annotations

from typing import Literal, get_args

from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.model.cscg import Model
from efex.model.em import em
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
