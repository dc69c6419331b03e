"""How much the settings matter: one changed at a time, for efex and for the paper's agent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from efex.study.case import Case
from efex.study.drawing import figure, one_legend, save, table
from efex.study.paper import SEEDS
from efex.study.paper.dots import draw_dots, levels
from efex.study.results import Results
from efex.study.study import Study

WORLDS = ("grid2d", "sparse-maze")
MARKS = {"efex": (1_500, 2_500, 5_000), "efex-paper": (2_500, 5_000, 10_000)}
"""When maps are measured, the last time at the end: the paper's agent takes twice as long and more."""
RUNS = 3
COLUMNS = 5
"""Panels side by side; a world takes as many lines as it needs."""
DEFAULTS: dict[str, dict[str, Any]] = {
    "efex": {
        "clones": 2.0,
        "prior": "learned",
        "pseudocount": "0.1/row",
        "discount": 0.9999,
        "start": "split-merge",
        "refit": 25,
        "refit_growth": 0.01,
        "scrutiny": 0.1,
        "restlessness": 0.1,
    },
    "efex-paper": {
        "clones": 2.0,
        "prior": 0.002,
        "pseudocount": 0.002,
        "discount": 0.9999,
        "start": "warm",
        "iterations": 20,
    },
}
CLONES = (1.2, 1.5, 2.0, 3.0, 4.0, 8.0)
DISCOUNTS = (0.9, 0.99, 0.999, 0.9999, 0.99999)
PER_TARGET = (0.0002, 0.0006, 0.002, 0.006, 0.02)
TRIED: dict[str, dict[str, tuple[Any, ...]]] = {
    "efex": {
        "clones": CLONES,
        "prior": ("learned", "0.005/row", "0.02/row", "0.07/row", "0.2/row", "1/row", 0.002),
        "pseudocount": ("0.01/row", "0.03/row", "0.1/row", "0.3/row", "1/row", 0.002),
        "discount": DISCOUNTS,
        "start": ("split-merge", "warm", "fresh", "rivals"),
        "refit": (5, 25, 100, "episode"),
        "refit_growth": (0.003, 0.01, 0.03, 0.1),
        "scrutiny": (0.0, 0.03, 0.1, 0.3),
        "restlessness": (0.0, 0.03, 0.1, 0.3),
    },
    "efex-paper": {
        "clones": CLONES,
        "prior": PER_TARGET,
        "pseudocount": PER_TARGET,
        "discount": DISCOUNTS,
        "start": ("warm", "fresh"),
        "iterations": (5, 10, 20, 50, 100),
    },
}
"""The values of every setting, its default among them; pseudocounts are per target unless they say per row."""


def study() -> Study:
    """Return the study: every setting at every value in two worlds, 3 seeds each."""
    cases = tuple(
        _case(world, agent, seed, name, value)
        for seed in range(RUNS)
        for agent in TRIED
        for world in WORLDS
        for name, value in _changes(agent)
    )
    return Study("sensitivity", "How much the settings matter", cases, report)


def _changes(agent: str) -> Iterator[tuple[str, Any]]:
    """Yield the default once, said by its clones, and then every other value of every setting."""
    yield "clones", DEFAULTS[agent]["clones"]
    for name, values in TRIED[agent].items():
        yield from ((name, value) for value in values if value != DEFAULTS[agent][name])


def _case(world: str, agent: str, seed: int, name: str, value: Any) -> Case:
    clones, settings = _said(agent, name, value)
    options = (("unique_fraction", 0.1),)
    marks = MARKS[agent]
    return Case(world, agent, marks[-1], SEEDS + seed, options=options, settings=settings, clones=clones, marks=marks)


def _said(agent: str, name: str, value: Any) -> tuple[float, tuple[tuple[str, Any], ...]]:
    """Return the clones and settings of a case with one value changed; what is at its default is not said."""
    if name == "clones":
        return value, ()
    return DEFAULTS[agent]["clones"], () if value == DEFAULTS[agent][name] else ((name, value),)


def report(results: Results, folder: Path) -> str:
    """Draw the precision of every value early and late, a figure per agent, and tell it at every mark."""
    return "\n".join(
        _shown(results.where(agent=agent), folder, agent) for agent in TRIED if len(results.where(agent=agent))
    )


def _runs(results: Results, world: str, agent: str, name: str, value: Any) -> Results:
    clones, settings = _said(agent, name, value)
    return results.where(world=world, agent=agent, clones=clones, settings=settings)


def _shown(results: Results, folder: Path, agent: str) -> str:
    lines = math.ceil(len(TRIED[agent]) / COLUMNS)
    made, rows = figure(len(WORLDS) * lines, COLUMNS, width=2.4, height=2.3)
    for first, world in enumerate(WORLDS):
        row = [axes for line in rows[first * lines : (first + 1) * lines] for axes in line]
        for axes, (name, values) in zip(row, TRIED[agent].items()):
            runs = {_text(name, value): _runs(results, world, agent, name, value) for value in values}
            default = _text(name, DEFAULTS[agent][name])
            draw_dots(axes, runs, early=MARKS[agent][0], late=MARKS[agent][-1], default=default)
            axes.set_title(name, fontsize=9)
        ends = [axes.get_xlim() for axes in row if axes.has_data()]
        for axes in row[: len(TRIED[agent])]:
            axes.set_xlim(min((low for low, _ in ends), default=0), max((high for _, high in ends), default=1))
            axes.set_xlabel("precision", fontsize=8)
        for axes in row[len(TRIED[agent]) :]:
            axes.axis("off")
        row[0].set_ylabel(f"{world} ({results.where(world=world).share})", fontsize=8)
    one_legend(made)
    caption = (
        f"Precision of {agent} with one setting changed, mean with 95 % interval, and every run; the default is "
        f"shaded; {results.share}."
    )
    return save(made, folder, f"sensitivity-{agent}", caption) + "\n" + _table(results, folder, agent)


def _text(name: str, value: Any) -> str:
    return f"{value:g}x" if name == "clones" else str(value)


def _table(results: Results, folder: Path, agent: str) -> str:
    rows = []
    for world in WORLDS:
        for name, values in TRIED[agent].items():
            for value in values:
                runs = _runs(results, world, agent, name, value)
                mark = " (default)" if value == DEFAULTS[agent][name] else ""
                if len(runs):
                    rows.append([world, name, f"{_text(name, value)}{mark}", runs.share, *levels(runs, MARKS[agent])])
    headings = ["world", "setting", "value", "runs", *(f"at {mark:,}" for mark in MARKS[agent]), "worst at the end"]
    title = f"Mean precision of {agent} (95 % interval):"
    return f"{title}\n\n" + table(folder, f"sensitivity-{agent}", headings, rows)
