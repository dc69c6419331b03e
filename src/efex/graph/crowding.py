"""Crowding: nodes that lie at the same place, drawn beside one another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

SAME = 0.1
"""Nodes so near lie at the same place, in steps."""


def places(points: Points) -> NDArray[np.int64]:
    """Return at which place every node lies, numbered from 0."""
    # Nodes mostly lie whole steps or simple fractions of them apart: none where cells shifted like this meet.
    cells = np.floor(points / SAME + 1 / np.e)
    return np.asarray(np.unique(cells, axis=0, return_inverse=True)[1].ravel())


def aside(points: Points, place: NDArray[np.int64], *, distance: float) -> Points:
    """Return the positions with nodes of the same place on a circle around it, on a line where there is no room."""
    crowd = np.bincount(place)
    among = np.zeros(len(place))
    among[np.argsort(place, kind="stable")] = np.arange(len(place)) - np.repeat(np.cumsum(crowd) - crowd, crowd)
    angle = 2 * np.pi * among / crowd[place]
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    if points.shape[1] == 1:
        around = ((2 * among + 1) / crowd[place] - 1)[:, None]
    moved = points.copy()
    moved[:, : around.shape[1]] += np.where(crowd[place] > 1, distance, 0.0)[:, None] * around
    return moved
