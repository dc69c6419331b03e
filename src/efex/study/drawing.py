"""What reports are made of: curves with bands, and tables as Markdown and CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from efex.study.results import interval

COLOURS = ("#0b5fa5", "#d1701f", "#3a8f4d", "#8a5aa8", "#7a7a7a", "#b3323d", "#111111")
"""They differ in lightness too."""

AGENTS = ("efex", "efex-paper", "random", "max", "bonus-dqn", "bootstrapped-dqn", "tour")
COLOUR = dict(zip(AGENTS, COLOURS, strict=True))
"""The agents that ship have the same colours everywhere."""


def figure(rows: int, columns: int, *, width: float = 3.4, height: float = 2.6) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure of panels that belongs to no global state."""
    made = Figure(figsize=(width * columns, height * rows + 0.5), layout="constrained")
    axes = made.subplots(rows, columns, squeeze=False)
    for each in axes.ravel():
        each.spines[["top", "right"]].set_visible(False)
        each.grid(alpha=0.25, linewidth=0.6)
    return made, axes.tolist()


def band(axes: Axes, x: ArrayLike, runs: ArrayLike, *, label: str, colour: str, style: str = "-") -> None:
    """Draw the mean over runs and its 95 % bootstrap band."""
    middle, low, high = interval(runs)
    axes.plot(x, middle, style, color=colour, label=label, linewidth=1.6)
    axes.fill_between(np.asarray(x, float), low, high, color=colour, alpha=0.18, linewidth=0)


def one_legend(made: Figure) -> None:
    """Say above the panels, once, what all their labels mean."""
    pairs = [axes.get_legend_handles_labels() for axes in made.axes]
    once = {label: handle for handles, labels in pairs for handle, label in zip(handles, labels)}
    made.legend(list(once.values()), list(once), loc="outside upper center", ncols=4, fontsize=8, frameon=False)


def save(made: Figure, folder: Path, name: str, caption: str) -> str:
    """Write the figure and return the Markdown that shows it."""
    made.savefig(folder / f"{name}.png", dpi=130)
    return f"![{caption}]({name}.png)\n\n{caption}\n"


def table(folder: Path, name: str, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write the table as CSV and return it as Markdown."""
    lines = [[str(cell) for cell in row] for row in rows]
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([headings, *lines])
    marks = ["---"] * len(headings)
    return "".join(f"| {' | '.join(row)} |\n" for row in [list(headings), marks, *lines])


def spread(runs: ArrayLike, *, digits: int = 3, median: bool = False) -> str:
    """Return a mean (or median) with its interval as text, "-" where there are no runs, "never" where all never end."""
    values = np.asarray(runs, np.float64)
    if np.isinf(values).all():
        return "never" if len(values) else "-"
    found = interval(values, statistic=np.median if median else np.mean)
    middle, low, high = (_number(float(value), digits) for value in found)
    return f"{middle} ({low} to {high})"


def median_steps(steps: ArrayLike) -> str:
    """Return the median of whole numbers with its interval as text."""
    return spread(steps, digits=0, median=True)


def _number(value: float, digits: int) -> str:
    return "never" if np.isinf(value) or np.isnan(value) else f"{value:,.{digits}f}"
