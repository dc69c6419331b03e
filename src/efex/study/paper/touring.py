"""What a tour of the known map took in the same world, which every run is compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.study.drawing import spread
from efex.study.results import Results


def of_tours(runs: Results, tours: Results, name: str) -> NDArray[np.float64]:
    """Return a number of the tour from the same seed for every run, nan where none came through."""
    found = {case.seed: result[name] for case, result in tours.done}
    return np.array([found.get(case.seed) or np.nan for case, _ in runs.done], np.float64)


def over_tours(steps: ArrayLike, tours: NDArray[np.float64]) -> str:
    """Tell how many times the steps of a tour were taken, median and interval; nothing where there was no tour."""
    has_tour = np.isfinite(tours)
    ratios = np.asarray(steps, np.float64)[has_tour] / tours[has_tour]
    return spread(ratios, digits=1, median=True) if has_tour.any() else ""
