"""Results of a study, as reports read them: grouped, averaged over runs, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.counting import counted
from efex.study.case import Case

RESAMPLES = 2_000


class Interval(NamedTuple):
    """A statistic of runs, and a 95 % bootstrap interval of it."""

    middle: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def interval(runs: ArrayLike, *, statistic: Callable[..., NDArray[np.float64]] = np.mean, seed: int = 0) -> Interval:
    """Return a statistic over the first axis with its bootstrap interval over runs; medians may be infinite."""
    values = np.asarray(runs, np.float64)
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(values), (RESAMPLES, len(values)))
    with np.errstate(invalid="ignore"):
        drawn = np.sort(np.stack([statistic(values[pick], axis=0) for pick in picks]), axis=0)
    low, high = (drawn[int(q * (RESAMPLES - 1))] for q in (0.025, 0.975))
    return Interval(np.asarray(statistic(values, axis=0)), low, high)


@dataclass(frozen=True)
class Results:
    """The cases of a study that are done, and how many there are in all."""

    done: list[tuple[Case, dict[str, Any]]]
    cases: tuple[Case, ...]

    def where(self, **wanted: Any) -> Results:
        """Return those whose field, option or setting is as wanted; what a case does not say is None."""

        def fits(case: Case) -> bool:
            return all(_get(case, name) == value for name, value in wanted.items())

        return Results([pair for pair in self.done if fits(pair[0])], tuple(case for case in self.cases if fits(case)))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (result for _, result in self.done)

    def __len__(self) -> int:
        return len(self.done)

    @property
    def share(self) -> str:
        """How many runs there are: "40 runs", or "12 of 40 runs" while some are missing."""
        of = "" if len(self) == len(self.cases) else f"{len(self):,} of "
        return of + counted(len(self.cases), "run")

    def curve(self, name: str, *, at: str = "steps") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the marks and every run's values at them."""
        runs = [result for result in self if result[at]]
        return np.array(runs[0][at], np.float64), np.array([run[name] for run in runs], np.float64)

    def final(self, name: str) -> NDArray[np.float64]:
        """Return a number of every run, infinity where it is None, the last where there are several."""
        values = [result[name] for result in self]
        last = [value[-1] if isinstance(value, list) else value for value in values]
        return np.array([np.inf if value is None else value for value in last], np.float64)

    def reached(self, level: float) -> NDArray[np.float64]:
        """Return the first mark from which on a run's precision stayed at or above the level, infinity if none."""
        out = []
        for result in self:
            below = np.flatnonzero(np.array(result["precision"]) < level)
            at = 0 if len(below) == 0 else below[-1] + 1
            out.append(result["steps"][at] if at < len(result["steps"]) else np.inf)
        return np.array(out, np.float64)


def _get(case: Case, name: str) -> Any:
    return getattr(case, name) if hasattr(case, name) and name != "setting" else case.setting(name)
