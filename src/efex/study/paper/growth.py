"""How steps grow with the number of nodes: a line through the logarithms of medians, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.study.results import RESAMPLES

Runs = NDArray[np.float64]

FEWEST = 3
"""Fewer sizes than this say nothing about growth."""


class Growth(NamedTuple):
    """log median = intercept + slope x, where x are nodes or their logarithm; the interval is that of the slope."""

    slope: float
    low: float
    high: float
    intercept: float


def power(nodes: Sequence[Runs], steps: Sequence[Runs]) -> Growth | None:
    """Return the exponent b of steps ~ nodes ** b, None where too few sizes have a median."""
    return _fitted([np.log(each) for each in nodes], steps)


def exponential(nodes: Sequence[Runs], steps: Sequence[Runs]) -> Growth | None:
    """Return the rate b of steps ~ exp(b nodes), None where too few sizes have a median."""
    return _fitted(nodes, steps)


def _fitted(x: Sequence[Runs], steps: Sequence[Runs]) -> Growth | None:
    """Fit medians by least squares; the 95 % interval draws the runs of every size again.

    A run that was cut off is infinite: it raises the median, and where most were cut off there is none.
    """
    line = _line(x, steps)
    if line is None:
        return None
    rng = np.random.default_rng(0)
    slopes = []
    for _ in range(RESAMPLES):
        picks = [rng.integers(0, len(each), len(each)) for each in steps]
        drawn = _line([a[i] for a, i in zip(x, picks)], [b[i] for b, i in zip(steps, picks)])
        if drawn is not None:
            slopes.append(drawn[0])
    low, high = np.quantile(slopes, (0.025, 0.975)) if slopes else (np.nan, np.nan)
    return Growth(line[0], float(low), float(high), line[1])


def _line(x: Sequence[Runs], steps: Sequence[Runs]) -> tuple[float, float] | None:
    """Return slope and intercept of the line through log medians."""
    points = [(np.median(a), np.median(b)) for a, b in zip(x, steps) if len(b)]
    usable = np.array([(a, np.log(b)) for a, b in points if np.isfinite(a) and np.isfinite(b)])
    if len(usable) < FEWEST or np.ptp(usable[:, 0]) == 0:
        return None
    slope, intercept = np.polyfit(usable[:, 0], usable[:, 1], 1)
    return float(slope), float(intercept)
