"""Dots with intervals: the precision that a setting comes to, early and late, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from efex.study.drawing import COLOURS, spread
from efex.study.results import Results, interval

RISE = 0.17
"""How far the early dots lie above the line of their setting, and the late ones below."""


class Look(NamedTuple):
    """How the dots of a moment are drawn."""

    colour: str
    rise: float
    face: str


def at_mark(runs: Results, mark: int) -> NDArray[np.float64]:
    """Return the precision of every run at a mark, none where there is no such mark."""
    values = [result["precision"][result["steps"].index(mark)] for result in runs if mark in result["steps"]]
    return np.array(values, np.float64)


def draw_dots(axes: Axes, settings: Mapping[str, Results], *, early: int, late: int, default: str) -> None:
    """Draw a line per setting that has runs: mean precision with its 95 % interval at two moments, and every run.

    The default's line is shaded.
    """
    looks = {early: Look(COLOURS[1], -RISE, "white"), late: Look(COLOURS[0], RISE, COLOURS[0])}
    for place, (name, runs) in enumerate(settings.items()):
        if name == default:
            axes.axhspan(place - 0.5, place + 0.5, color="0.92", zorder=0)
        for mark, look in looks.items():
            values = at_mark(runs, mark)
            if len(values):
                _dot(axes, values, place + look.rise, look, label=f"after {mark:,} steps")
    axes.set_yticks(range(len(settings)), list(settings))
    axes.set_ylim(len(settings) - 0.5, -0.5)
    axes.tick_params(labelsize=7)
    axes.grid(visible=False, axis="y")


def _dot(axes: Axes, values: NDArray[np.float64], y: float, look: Look, *, label: str) -> None:
    middle, low, high = (float(value) for value in interval(values))
    axes.plot(values, np.full(len(values), y), "|", color=look.colour, alpha=0.6, markersize=7)
    axes.plot([low, high], [y, y], color=look.colour, linewidth=1.3)
    axes.plot([middle], [y], "o", label=label, color=look.colour, markerfacecolor=look.face, markersize=4.5)


def levels(runs: Results, marks: tuple[int, ...]) -> list[str]:
    """Return the cells of a table: mean precision with its interval at every mark, and the worst run at the last."""
    values = [at_mark(runs, mark) for mark in marks]
    return [*(spread(each) for each in values), f"{values[-1].min():.3f}" if len(values[-1]) else "-"]
