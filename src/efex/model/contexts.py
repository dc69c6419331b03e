"""Contexts: a place told apart into as many as there are ways to come to it, or to leave it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.model.transitions import places_of

Path = NDArray[np.int64]


class Told(NamedTuple):
    """A path on which some places are told apart, and which of its states are parts of those."""

    path: Path
    parts: NDArray[np.int64]


def tell_apart(path: Path, experience: Experience, *, rng: np.random.Generator) -> Told:
    """Return the path with some places told apart: by the step before, the two steps before, or the step after.

    Two places taken for one are come to, or left, in different ways; what need not have been told apart can be merged
    again. Sometimes it is one place, sometimes a few, as many as the root of their number on average at most.
    """
    names, _, at = places_of(path, experience)
    chosen = rng.random(len(names)) < len(names) ** -rng.uniform(0.5, 1.0)
    context = (_step_before, _two_steps_before, _step_after)[rng.integers(3)](at, experience)
    told = chosen[at]
    _, parts, apart = np.unique(
        np.where(told, context + 1, 0) * len(names) + at, return_index=True, return_inverse=True
    )
    return Told(apart.astype(np.int64), np.flatnonzero(told[parts]))


def _step_before(at: Path, experience: Experience) -> Path:
    """Return which step led to every position, numbered from 0, and -1 where an episode begins."""
    actions = experience.actions[:-1].astype(np.int64)
    step = np.where(actions >= 0, at[:-1] * experience.n_actions + actions, -1)
    return np.concatenate([[-1], step])


def _two_steps_before(at: Path, experience: Experience) -> Path:
    before = _step_before(at, experience)
    _, step = np.unique(before, return_inverse=True)
    earlier = np.concatenate([[0], np.where(before[1:] >= 0, step[:-1], 0)])
    return np.asarray(np.unique(step * len(step) + earlier, return_inverse=True)[1])


def _step_after(at: Path, experience: Experience) -> Path:
    """Return which step was taken at every position, and where it led; -1 where an episode ends."""
    actions = experience.actions[:-1].astype(np.int64)
    step = np.where(actions >= 0, actions * (at.max(initial=0) + 1) + at[1:], -1)
    return np.concatenate([step, [-1]])
