"""Timing, the unit of time, and one line of the table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Line:
    """One measured figure: what it is, its bar, and what was checked about the result that was timed."""

    what: str
    figure: float
    unit: str
    bar: float | None
    check: str
    right: bool

    @property
    def met(self) -> bool:
        """Whether the figure is at most its bar and the result is right."""
        return self.right and (self.bar is None or self.figure <= self.bar)

    def cells(self) -> tuple[str, ...]:
        """Return the line as text."""
        bar = "" if self.bar is None else f"{self.bar:g}"
        verdict = "yes" if self.met else "NO"
        return (
            self.what,
            f"{self.figure:.3g} {self.unit}",
            bar,
            verdict,
            f"{self.check}{'' if self.right else ': WRONG'}",
        )


HEADINGS = ("what", "measured", "at most", "met", "checked")


def best_time(work: Callable[[], Any], *, repeats: int = 10) -> float:
    """Return the seconds of the fastest of several runs, after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


@cache
def product_time() -> float:
    """Return the seconds of one float32 product of 2048 x 2048 matrices on all cores: the unit of time."""
    rng = np.random.default_rng(0)
    left, right = (rng.random((2048, 2048), np.float32) for _ in range(2))
    return best_time(lambda: left @ right)


def in_products(what: str, seconds: float, bar: float | None, check: str, right: bool) -> Line:
    """Return the line of a time measured in matrix products."""
    return Line(what, seconds / product_time(), "products", bar, check, right)
