"""Dead reckoning: where places are, by actions that undo one another and so may be steps to and fro along an axis."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import reckoning as kernel
from efex.kernels.transitions import sort_into
from efex.model.moves import Moves, displacements
from efex.model.throwing import thrown_entries, unthrown

LEAST_ASTRAY = 0.02
"""How often coordinates are wrong at least, however well they have served so far."""

MOST_ASTRAY = 1 / 3
"""How often coordinates may be wrong where one goes by them."""

FEW = 3
"""At how many coordinates one must have been both here and further on to believe that the way goes around."""

MATCHING = 0.9
"""How often one must have seen the same there."""


class Reckoning(NamedTuple):
    """By how much every action moves, zeros where that is unknown, where places are, and how often that is wrong.

    Edges that were `thrown` say nothing of that, None if there are none.
    """

    moves: Moves
    at: NDArray[np.int64]
    astray: float
    thrown: NDArray[np.bool_] | None

    @property
    def is_trusted(self) -> bool:
        """Whether coordinates are right often enough to go by them."""
        return bool(self.moves.any()) and self.astray <= MOST_ASTRAY


def reckon(
    moves: Moves,
    source: NDArray[np.int64],
    action: NDArray[np.int64],
    target: NDArray[np.int64],
    visits: NDArray[np.number[Any]],
    *,
    n: int,
    start: NDArray[np.int64] | None = None,
) -> Reckoning:
    """Return where n places are, given the edges between them; those walked most often decide.

    Of the edges that are not needed to connect the places, some lead astray: that share, smoothed by one of two. Where
    something throws, which only edges tell that are sorted by row, beginning at `start`, those edges decide nothing.
    """
    if not moves.any():
        return Reckoning(moves, np.zeros(n, np.int64), 0.5, None)
    edges = (source, action, target, visits)
    thrown = None if start is None else thrown_entries(start, target, visits, n=n)
    if thrown is not None:
        edges = (source[~thrown], action[~thrown], target[~thrown], visits[~thrown])
    at, wrong, spare = kernel.locate(*edges, moves, n)
    return Reckoning(moves, at, min(max((wrong + 1) / (spare + 2), LEAST_ASTRAY), 0.5), thrown)


def reckoned(path: NDArray[np.int64], experience: Experience) -> Reckoning:
    """Return where the states of a path are."""
    n, t = int(path.max(initial=-1)) + 1, np.flatnonzero(experience.actions >= 0)
    steps = np.stack([path[t], experience.actions[t].astype(np.int64), path[t + 1]])
    (source, action, target), visits = np.unique(steps, axis=1, return_counts=True)
    rows = np.bincount(source * experience.n_actions + action, minlength=n * experience.n_actions)
    moves = displacements(experience, actions=unthrown(path, experience))
    return reckon(moves, source, action, target, visits, start=np.concatenate([[0], np.cumsum(rows)]), n=n)


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
    start, order = sort_into(shown, int(shown.max(initial=-1)) + 1)
    way = kernel.most_frequent_way(spot, order, start)
    return way[0] if len(way) else None
