"""Curiosity: what the rows of a belief weigh before they are walked, and so how much a second walk would teach."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.model.layout import CloneLayout
from efex.model.pseudocount import Pseudocount, per_target

Prior = Pseudocount | Literal["learned"]
"""What the rows of a belief weigh: a pseudocount, or one that is learned from the map."""

UNIQUE = 0.03
"""What a row weighs where every place is known by sight: its first walk teaches nearly everything."""

ALIASED = 0.07
"""What a row weighs where all places look like others: where the first walk led may not be what it seems."""

CHANCE = 0.5
"""What a row weighs, where every place is known by sight, if an action has led to different places from there: other
actions may do so too."""


class Curiosity(NamedTuple):
    """Pseudocounts per target: of all rows, and of those tried where an action has led to different states."""

    prior: float
    by_chance: float


def curiosity_for(prior: Prior, path: NDArray[np.int64], layout: CloneLayout, *, astray: float = 0.5) -> Curiosity:
    """Return what the rows of a belief weigh; if learned, by the share of places on the path that may be confused.

    Those are the ones that look like others, as far as reckoning leads `astray`: in one of two cases, it tells nothing.
    """
    if prior != "learned":
        given = per_target(prior, layout.n_states)
        return Curiosity(given, given)
    looks = layout.observation[np.unique(path)]
    alike = 2 * astray * float((np.bincount(looks)[looks] > 1).mean())
    row, by_chance = (alike * ALIASED + (1 - alike) * otherwise for otherwise in (UNIQUE, CHANCE))
    return Curiosity(row / layout.n_states, by_chance / layout.n_states)
