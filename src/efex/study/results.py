"""Results of a study, as reports read them: grouped, averaged over runs, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.counting import counted
from efex.errors import InvalidArgumentError
from efex.near import near
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
    names: frozenset[str] = frozenset()
    """The fields, options and settings that any case of the study has; those of `cases` unless given."""

    def __post_init__(self) -> None:
        if not self.names:
            object.__setattr__(self, "names", _names(self.cases))

    def where(self, **wanted: Any) -> Results:
        """Return those whose field, option or setting is as wanted; what a case does not say is None."""
        for name in wanted:
            if name not in self.names:
                said = ", ".join(sorted(self.names))
                raise InvalidArgumentError(f"where must ask for one of {said}, not {name!r}{near(name, self.names)}")

        def fits(case: Case) -> bool:
            return all(_get(case, name) == value for name, value in wanted.items())

        done = [pair for pair in self.done if fits(pair[0])]
        return Results(done, tuple(case for case in self.cases if fits(case)), self.names)

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
        measured = [(marks, values) for marks, values in zip(self._every(at), self._every(name)) if marks]
        if not measured:
            raise InvalidArgumentError(f"a curve of {name!r} needs a run with {at}; give cases marks, and play them")
        first, _ = measured[0]
        if any(not isinstance(values, list) or len(values) != len(marks) for marks, values in measured):
            raise InvalidArgumentError(f"a curve of {name!r} needs a value at every one of {at}; see final")
        if any(marks != first for marks, _ in measured):
            raise InvalidArgumentError(f"a curve of {name!r} needs runs with the same {at}; choose such with where")
        return np.array(first, np.float64), np.array([values for _, values in measured], np.float64)

    def final(self, name: str) -> NDArray[np.float64]:
        """Return a number of every run, infinity where it is None, the last where there are several."""
        values = self._every(name)
        if [] in values:
            raise InvalidArgumentError(f"{name!r} has no last value where cases have no marks; give all of them marks")
        last = [value[-1] if isinstance(value, list) else value for value in values]
        return np.array([np.inf if value is None else value for value in last], np.float64)

    def reached(self, level: float, name: str = "precision") -> NDArray[np.float64]:
        """Return the first mark from which on a measure of a run stayed at or above the level, infinity if none."""
        out = []
        for steps, values in zip(self._every("steps"), self._every(name)):
            below = np.flatnonzero(np.array(values) < level)
            at = 0 if len(below) == 0 else below[-1] + 1
            out.append(steps[at] if at < len(steps) else np.inf)
        return np.array(out, np.float64)

    def _every(self, name: str) -> list[Any]:
        """Return what every run has by that name."""
        for result in self:
            if name not in result:
                raise InvalidArgumentError(f"name must be one of {', '.join(result)}, not {name!r}{near(name, result)}")
        return [result[name] for result in self]


def _names(cases: Iterable[Case]) -> frozenset[str]:
    own = {name for case in cases for name, _ in case.options + case.settings}
    return frozenset({"id", *(field.name for field in fields(Case)), *own})


def _get(case: Case, name: str) -> Any:
    return getattr(case, name) if hasattr(case, name) and name != "setting" else case.setting(name)
