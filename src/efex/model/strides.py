"""Strides: where a walk was at every step, if actions turn and some lead on although the same is seen after them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import strides as kernel
from efex.model.moves import Moves, turning

PASSES = 2
"""How many times walks are followed, each time by how often actions stayed the last time."""

PATIENCE = 12
"""How many kinds of steps in a row may be thought over in vain."""

SURELY = 0.02
"""How likely an action is at least to stay, and at least not to."""

ALWAYS = 0.9
"""How often the same must be seen after an action for it to be thought to stay, where every other one goes on."""

Coordinates = NDArray[np.int64]
Shares = NDArray[np.float64]
"""How likely an action is to stay, by what is seen and done."""


class Strides:
    """Says where walks were, given where a map has every position and by how much actions move.

    A step after which the same is seen may have led on to another place that looks the same, or nowhere. What is seen
    at the poses to come tells, so that several answers are followed for some steps until one explains most. Episodes
    begin where the map has them begin.
    """

    def __init__(self, experience: Experience, at: Coordinates, *, moves: Moves) -> None:
        self._looks, self._actions = (each.astype(np.int64) for each in (experience.observations, experience.actions))
        self._offsets, self._at, self._moves = np.asarray(experience.offsets, np.int64), at, moves
        self._steps = t = np.flatnonzero(self._actions >= 0)
        self._often = np.bincount(self._looks) / len(self._looks)
        self._pair = self._looks[t] * experience.n_actions + self._actions[t]
        shape = (len(self._often), experience.n_actions)
        self._expected = np.zeros(len(self._looks))
        self._times = np.bincount(self._pair, minlength=shape[0] * shape[1]).reshape(shape)
        _, triple, often = np.unique(
            self._pair * len(self._often) + self._looks[t + 1], return_inverse=True, return_counts=True
        )
        self._expected[t] = often[triple] / self._times.ravel()[self._pair]

    def likeliest(
        self, path: NDArray[np.int64], *, score: Callable[[Coordinates], float], rng: np.random.Generator | None
    ) -> Coordinates:
        """Return the coordinates of highest score that were found.

        It depends on what is thought of actions after which the same is seen: as many stay as it takes to explain how
        often that is so; or they go on but where it is nearly always so; or they do what they do on the path. With an
        `rng`, one kind of step after the other is then thought over.
        """
        t = self._steps
        again = self._share(self._looks[t] == self._looks[t + 1])
        often = self._often[:, None]
        as_needed = (again - often) / np.maximum(1 - often, SURELY)
        found = []
        for stays in (as_needed, (again > ALWAYS).astype(np.float64), self._share(path[t] == path[t + 1])):
            stays[:, turning(self._moves)] = 0.0  # at first nothing stops a turn
            for _ in range(PASSES):
                at = self._followed(stays)
                found.append((score(at), at, stays))
                stays = self._share(at[t] == at[t + 1])
        best, at, stays = max(found, key=lambda each: each[0])
        kinds = np.argwhere((again > 0) & ~turning(self._moves))
        failures = 0
        for kind in map(tuple, [] if rng is None else rng.permutation(kinds)):
            other = stays.copy()
            other[kind] = stays[kind] < 0.5
            where = self._followed(other)
            if (then := score(where)) > best:
                best, at, stays, failures = then, where, other, 0
            elif (failures := failures + 1) == PATIENCE:
                break
        return at

    def _followed(self, stays: Shares) -> Coordinates:
        likely = np.clip(stays, SURELY, 1 - SURELY)
        walks = (self._looks, self._actions, self._offsets, self._at[self._offsets[:-1]], self._at)
        return np.asarray(kernel.follow(*walks, self._moves, self._expected, likely))

    def _share(self, steps: NDArray[np.bool_]) -> Shares:
        """Return how often steps are so, by what is seen and done."""
        times = self._times
        return np.bincount(self._pair, steps, times.size).reshape(times.shape) / np.maximum(times, 1)
