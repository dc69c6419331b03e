"""How sure the probability of an edge is: credible intervals from counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CREDIBILITY = 0.95


def interval(
    probability: NDArray[np.float64], count: NDArray[np.float64], visits: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and highest credible probability of outcomes seen `count` times in `visits` tries.

    The middle 95 % of Beta(count + 1/2, visits - count + 1/2), the posterior under Jeffreys' prior; up to 1 where
    nothing else was seen and down to 0 where the outcome was not, since certain outcomes are the usual case. With
    infinite visits the probability is exact, and both are that.
    """
    from scipy.special import betaincinv  # slow to load: not with the package

    low, high = probability.copy(), probability.copy()
    counted = np.isfinite(visits)
    # A map without chance has few different rows, and inverting the Beta distribution is slow.
    kinds, kind = np.unique(np.column_stack([count, visits])[counted], axis=0, return_inverse=True)
    seen, others = kinds[:, 0], kinds[:, 1] - kinds[:, 0]
    tail = (1 - CREDIBILITY) / 2
    lowest = np.where(seen > 0, betaincinv(seen + 0.5, others + 0.5, tail), 0.0)
    highest = np.where(others > 0, betaincinv(seen + 0.5, others + 0.5, 1 - tail), 1.0)
    # The probability may have been given with the counts; whatever it is, it is credible.
    low[counted] = np.minimum(lowest[kind.ravel()], probability[counted])
    high[counted] = np.maximum(highest[kind.ravel()], probability[counted])
    return low, high
