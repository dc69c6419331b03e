"""Chance: whether what seems to be many places is one that leads to many by chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.model.cscg import Model
from efex.model.marginal import weighed
from efex.model.moves import Moves
from efex.model.naming import named_after
from efex.model.viterbi_training import from_path

OFTEN = 5
"""How often actions must have been tried, where the same is seen, to tell what is chance."""


def left_to_chance(
    model: Model,
    path: NDArray[np.int64],
    experience: Experience,
    *,
    moves: Moves | None = None,
) -> Model:
    """Return the model with one place for every observation, if that is likelier than the model's `path`, or else it.

    Both are judged where a row's prior weighs what suits them, theory (10), at least what it does. Where outcomes are
    certain that is little, and what has several of them seems to be several places; where they are not, it is more.
    Neither more places nor fewer are preferred. Chance is not thought of before what was done where the same is seen
    was done OFTEN times on average: at first it explains everything.
    """
    if experience.n_steps < OFTEN * _pairs_seen(experience):
        return model
    least = model.pseudocount * model.layout.n_states
    shown = experience.observations.astype(np.int64)
    now, then = (weighed(each, experience, least=least, moves=moves) for each in (path, shown))
    if then.score <= now.score:
        return model
    one_each = from_path(model, experience, named_after(shown, path, experience, model.layout))
    return replace(one_each, pseudocount=then.weight / model.layout.n_states)


def _pairs_seen(experience: Experience) -> int:
    """Return how many pairs of an observation and an action were tried."""
    acted = experience.actions >= 0
    return len(
        np.unique(experience.observations[acted].astype(np.int64) * experience.n_actions + experience.actions[acted])
    )
