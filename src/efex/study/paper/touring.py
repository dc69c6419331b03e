"""What a tour of the known map took in the same world, which every run is compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.study.drawing import median_steps, spread
from efex.study.results import Results

LEVELS = (0.95, 0.99)
"""The precisions at which a map counts as recovered."""


def of_tours(runs: Results, tours: Results, name: str) -> NDArray[np.float64]:
    """Return a number of the tour from the same seed for every run, nan where none came through."""
    found = {case.seed: result[name] for case, result in tours.done}
    return np.array([found.get(case.seed) or np.nan for case, _ in runs.done], np.float64)


def over_tours(steps: ArrayLike, tours: NDArray[np.float64]) -> str:
    """Tell how many times the steps of a tour were taken, median and interval; nothing where there was no tour."""
    has_tour = np.isfinite(tours)
    ratios = np.asarray(steps, np.float64)[has_tour] / tours[has_tour]
    return spread(ratios, digits=1, median=True) if has_tour.any() else ""


def level_headings(where: str = "") -> list[str]:
    """Return what stands above the cells of `recovered`."""
    return [heading for level in LEVELS for heading in (f"steps to {level}{where}", "over the tour's")]


def recovered(runs: Results, tours: NDArray[np.float64], name: str = "precision") -> list[str]:
    """Tell after how many steps a measure stays at every level, and how many times a tour's that are."""
    steps = [runs.reached(level, name) for level in LEVELS]
    return [cell for each in steps for cell in (median_steps(each), over_tours(each, tours))]
