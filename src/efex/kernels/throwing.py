"""Being thrown: the place to which rare outcomes lead from everywhere, and which outcomes those are.

Row r led to target[start[r]] up to start[r + 1], so many times each; rare is at most half of the times.
"""

import numpy as np
from numba import njit

NOWHERE = -1
"""The place to which nothing throws."""

MANY = 10
"""How many outcomes must lead to the same place, at least."""


@njit(cache=True)
def thrown_to(start, target, times, n):
    """Return which of n places most of the outcomes lead to that are rare in their rows, NOWHERE if there is none."""
    if n == 0:
        return NOWHERE
    rare = np.zeros(n, np.int64)
    for row in range(len(start) - 1):
        if start[row] + 1 < start[row + 1]:
            total = times[start[row] : start[row + 1]].sum()
            for entry in range(start[row], start[row + 1]):
                rare[target[entry]] += 2 * times[entry] <= total
    place = rare.argmax()
    return place if rare[place] >= MANY and 2 * rare[place] > rare.sum() else NOWHERE


@njit(cache=True)
def lead_rarely_to(place, start, target, times):
    """Return which outcomes lead to the place, and are rare in their rows."""
    out = np.zeros(len(target), np.bool_)
    for row in range(len(start) - 1):
        total = times[start[row] : start[row + 1]].sum()
        for entry in range(start[row], start[row + 1]):
            out[entry] = target[entry] == place and 2 * times[entry] <= total
    return out
