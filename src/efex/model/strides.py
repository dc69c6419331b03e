"""Strides: where a walk was at every step, if actions turn and some lead on although the same is seen after them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import strides as kernel
from efex.model.moves import Moves, turning

PASSES = 2
"""How many times the walks are followed, each time by how often actions stayed the last time."""

SURELY = 0.02
"""How likely an action is at least to stay, and at least not to."""

ALWAYS = 0.9
"""How often the same must be seen after an action for it to be thought to stay, where every other one goes on."""


def followed(experience: Experience, at: NDArray[np.int64], *, moves: Moves) -> Iterator[NDArray[np.int64]]:
    """Yield where the walks may have been, a coordinate for every position, given where a map has it.

    A step after which the same is seen may have led on to another place that looks the same, or nowhere. What was seen
    at the poses to come tells, so that several answers are followed for some steps until one explains most. It depends
    on what is thought of such steps at first: as many stay as it takes to explain how often the same is seen, or all go
    on but where that is nearly always so. Episodes begin where the map has them begin.
    """
    looks, actions = experience.observations.astype(np.int64), experience.actions.astype(np.int64)
    offsets = np.asarray(experience.offsets, np.int64)
    t = np.flatnonzero(actions >= 0)
    often = np.bincount(looks) / len(looks)
    pair = looks[t] * experience.n_actions + actions[t]
    times = np.bincount(pair, minlength=len(often) * experience.n_actions).reshape(len(often), -1)

    def share(steps: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return how often steps are so, by what is seen and done."""
        return np.bincount(pair, steps, times.size).reshape(times.shape) / np.maximum(times, 1)

    again = share(looks[t] == looks[t + 1])
    # Where an action goes on, one may see the same all the same.
    as_needed = (again - often[:, None]) / np.maximum(1 - often[:, None], SURELY)
    for stays in (as_needed, (again > ALWAYS).astype(np.float64)):
        stays[:, turning(moves)] = 0.0  # nothing stops a turn
        for _ in range(PASSES):
            likely = np.clip(stays, SURELY, 1 - SURELY)
            found = kernel.follow(looks, actions, offsets, at[offsets[:-1]], at, moves, often, likely)
            yield found
            stays = share(found[t] == found[t + 1])
