"""Closing: the (state, action) pairs that hold nothing to learn, since nobody can try them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from efex.agents.base import Mask
from efex.experience import Experience
from efex.model.layout import CloneLayout


def closed_pairs(
    path: NDArray[np.int64], layout: CloneLayout, experience: Experience, masks: Mapping[int, Mask]
) -> NDArray[np.bool_]:
    """Return which pairs are closed: where episodes terminated, and what was unavailable whenever one was there.

    `path` is the state at every observation, and `masks` what was available at some of them.
    """
    closed = np.zeros((layout.n_states, experience.n_actions), bool)
    ends, acted = experience.terminated, np.flatnonzero(experience.actions >= 0)
    closed[path[ends]] = True
    # Where an observation was only ever seen at an end, its other clones would be ends too.
    always = np.setdiff1d(experience.observations[ends], experience.observations[acted])
    closed[np.isin(layout.observation, always)] = True
    if masks:
        positions, available = np.array(list(masks)), np.array(list(masks.values()))
        masked = np.zeros_like(closed)
        np.logical_or.at(masked, path[positions], ~available)
        masked[path[acted], experience.actions[acted]] = False
        closed |= masked
    return closed
