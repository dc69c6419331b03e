"""Dead reckoning: where places are, by actions that undo one another and so may be steps to and fro along an axis."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import reckoning as kernel

AXES = np.random.default_rng(0).integers(2**40, 2**62, 64) | 1
"""What a step along every axis adds to a coordinate."""

SURE = 0.65
"""How likely two actions are to undo one another, at least, that are taken for steps to and fro."""

ALONE = 0.5
"""How likely one of them is to be undone by any other action, at most, compared with that."""

UNSEEN = 2.0
"""How many times two actions are taken to have failed to undo one another before any was seen."""

LEAST_ASTRAY = 0.02
"""How often coordinates are wrong at least, however well they have served so far."""

MOST_ASTRAY = 1 / 3
"""How often coordinates may be wrong where one goes by them."""

FEW = 3
"""At how many coordinates one must have been both here and further on to believe that the way goes around."""

MATCHING = 0.9
"""How often one must have seen the same there."""


class Reckoning(NamedTuple):
    """By how much every action moves, 0 where that is unknown, where places are, and how often that is wrong."""

    moves: NDArray[np.int64]
    at: NDArray[np.int64]
    astray: float

    @property
    def is_trusted(self) -> bool:
        """Whether coordinates are right often enough to go by them."""
        return bool(self.moves.any()) and self.astray <= MOST_ASTRAY


def displacements(experience: Experience) -> NDArray[np.int64]:
    """Return by how much every action moves, 0 where that is unknown.

    Two actions share an axis if each, right after the other, leads back to what was seen, more often than any does, and
    no other action does so for one of them.
    """
    n_actions = experience.n_actions
    moves = np.zeros(n_actions, np.int64)
    back, times = kernel.count_returns(experience.observations, experience.actions, n_actions)
    usual = back.sum() / max(times.sum(), 1.0)
    if usual == 1:
        return moves
    beyond = np.maximum(back - usual * times, 0.0) / (1 - usual) / (times + UNSEEN)
    share = np.minimum(beyond, beyond.T)
    for to, fro in enumerate(share.argmax(axis=1).tolist()):
        if to < fro and share[fro].argmax() == to and share[to, fro] >= SURE:
            others = share[[to, fro]]
            others[[0, 1], [fro, to]] = 0.0
            if others.max() <= ALONE * share[to, fro]:
                moves[to], moves[fro] = AXES[to % len(AXES)], -AXES[to % len(AXES)]
    return moves


def reckon(
    moves: NDArray[np.int64],
    source: NDArray[np.int64],
    action: NDArray[np.int64],
    target: NDArray[np.int64],
    visits: NDArray[np.number[Any]],
    *,
    n: int,
) -> Reckoning:
    """Return where n places are, given the edges between them; those walked most often decide.

    Of the edges that are not needed to connect the places, some lead astray: that share, smoothed by one of two.
    """
    if not moves.any():
        return Reckoning(moves, np.zeros(n, np.int64), 0.5)
    by = np.where(source != target, moves[action], 0)
    at = kernel.settle(source, target, by, np.argsort(-visits, kind="stable"), n)
    known = by != 0
    here, there = source[known], target[known]
    connected = np.zeros(n, bool)
    connected[here] = connected[there] = True
    wrong = int(np.count_nonzero(at[here] + by[known] != at[there]))
    spare = max(len(here) - int(np.count_nonzero(connected)), 0)
    return Reckoning(moves, at, min(max((wrong + 1) / (spare + 2), LEAST_ASTRAY), 0.5))


def reckoned(path: NDArray[np.int64], experience: Experience) -> Reckoning:
    """Return where the states of a path are."""
    n, t = int(path.max(initial=-1)) + 1, np.flatnonzero(experience.actions >= 0)
    steps = np.stack([path[t], experience.actions[t].astype(np.int64), path[t + 1]])
    (source, action, target), visits = np.unique(steps, axis=1, return_counts=True)
    return reckon(displacements(experience), source, action, target, visits, n=n)


def wrapped(at: NDArray[np.int64], looks: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return coordinates as they are if the world goes around in a circle, None where nothing says that it does.

    A walk was at these coordinates and saw that. It goes around if, some way further on, one sees the same everywhere.
    """
    spot, first, found = np.unique(at, return_index=True, return_inverse=True)
    shown = looks[first]
    way = _way_around(spot, shown)
    if way is None:
        return None
    there = np.searchsorted(spot, spot + way)
    is_there = np.append(spot, 0)[there] == spot + way
    if np.count_nonzero(is_there) < FEW or (shown[is_there] == shown[there[is_there]]).mean() < MATCHING:
        return None
    return np.asarray(kernel.wrap(spot, np.where(is_there, there, -1))[found.ravel()])


def _way_around(spot: NDArray[np.int64], shown: NDArray[np.int64]) -> np.int64 | None:
    """Return the most frequent difference of coordinates where the same is seen, each sight by itself."""
    order = np.argsort(shown, kind="stable")
    ways = [
        np.subtract.outer(group, group)[np.triu_indices(len(group), 1)]
        for group in np.split(spot[order], np.flatnonzero(np.diff(shown[order])) + 1)
    ]
    values, times = np.unique(np.concatenate(ways), return_counts=True)
    return None if len(values) == 0 else values[times.argmax()]
