"""The teleport maze in growing sizes: how many steps until all was tried, and until the map is right.

A tour that knows the map walks beside: longer ways make larger mazes take more steps a node, whoever explores them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from efex.study.case import Case
from efex.study.drawing import COLOUR, figure, median_steps, one_legend, save, table
from efex.study.paper import SEEDS
from efex.study.paper.growth import Growth, Runs, exponential, power
from efex.study.paper.scaling_play import COVERED, play_scaling
from efex.study.paper.touring import LEVELS, level_headings, of_tours, over_tours, recovered
from efex.study.results import Results, interval
from efex.study.study import Study

RECOVERING = ("efex", "random")
AGENTS = (*RECOVERING, "tour")
STEPS = {11: 8_000, 13: 10_000, 15: 12_000, 17: 14_000, 21: 16_000, 27: 16_000}
"""Sizes, and after how many steps runs end, but for random walks."""
RANDOM_STEPS = 2_000_000
MARKS = (250, 500, 750, *range(1_000, 3_000, 500), *range(3_000, 8_000, 1_000), *range(8_000, 16_000, 2_000))
RANDOM_MARKS = (1_000, 2_000, 4_000, 8_000)
"""When maps are measured; the random walk goes on after that, to see what it covers: a map is learned from nothing at
every mark, and from tens of thousands of steps that takes longer than all the exploring."""
RUNS = 20
LEVEL, *_ = LEVELS
MEASURES = {
    "tried": "every action tried at every node",
    "everywhere": f"precision {LEVEL} on short walks from everywhere",
    "precision": f"precision {LEVEL}",
    "covered": f"weighted coverage {COVERED}",
}
WALKED = ("tried", "covered")
"""What is told by the walk alone, to its last step; the others by the maps, at marks."""
DRAWN = ("tried", "everywhere", "precision")


def study() -> Study:
    """Return the study: 20 mazes of every size."""
    cases = tuple(_case(size, agent, SEEDS + seed) for seed in range(RUNS) for size in STEPS for agent in AGENTS)
    return Study("scaling", "Growing mazes that teleport home", cases, report, play_scaling)


def _case(size: int, agent: str, seed: int) -> Case:
    steps = RANDOM_STEPS if agent == "random" else STEPS[size]
    learning = tuple(sorted({*(mark for mark in MARKS if mark <= steps), steps}))
    marks = {"efex": learning, "random": RANDOM_MARKS, "tour": ()}[agent]
    options = (("unique_fraction", 0.1), ("size", size))
    return Case("teleport-maze", agent, steps, seed, options=options, marks=marks)


def report(results: Results, folder: Path) -> str:
    """Draw steps against nodes on both axes, and tell how they grow."""
    parts = [_figure(results, folder), _levels(results, folder), _recovery(results, folder), _growth(results, folder)]
    return "\n".join(parts)


def _steps(runs: Results, measure: str) -> Runs:
    """Return every run's steps until the measure was reached, infinity where it was cut off."""
    return runs.final(f"{measure}_steps") if measure in WALKED else runs.reached(LEVEL, measure)


def _limit(runs: Results, measure: str) -> int:
    """Return after how many steps runs were cut off."""
    case = runs.done[0][0]
    return case.steps if measure in WALKED else max(case.marks)


def _measures(agent: str) -> tuple[str, ...]:
    """Return what is measured of an agent; the tour tries everything once, and has no map."""
    return ("tried",) if agent == "tour" else tuple(MEASURES)


def _sizes(results: Results, agent: str) -> Iterator[tuple[int, Results]]:
    for size in STEPS:
        runs = results.where(agent=agent, size=size)
        if len(runs):
            yield size, runs


def _figure(results: Results, folder: Path) -> str:
    made, rows = figure(len(DRAWN), 2, width=5.2, height=2.7)
    for row, measure in zip(rows, DRAWN):
        for axes, scale in zip(row, ("linear", "log")):
            for place, agent in enumerate(AGENTS):
                if measure in _measures(agent):
                    _draw(axes, results, agent, measure, colour=COLOUR[agent], shift=1 + 0.012 * (place - 1))
            axes.set_yscale(scale)
            axes.set_title(MEASURES[measure], fontsize=9)
        row[0].set_ylabel("steps")
        row[0].yaxis.set_major_formatter("{x:,.0f}")
        _stretch(row, results, measure)
    for axes in rows[-1]:
        axes.set_xlabel("nodes, median of the mazes of a size")
    one_legend(made)
    caption = (
        f"Steps against nodes in the teleport maze, {results.share}. Dots are medians with 95 % intervals, faint dots "
        "runs, crosses runs that were cut off there, arrows medians beyond. Dashed: the fitted power law, for random "
        "dotted: the exponential. The linear axes end where efex does. The last row falls, since long random walks, on "
        "which precision is measured there, hardly leave home in large mazes; the row above is measured everywhere."
    )
    return save(made, folder, "scaling", caption)


def _draw(axes: Axes, results: Results, agent: str, measure: str, *, colour: str, shift: float) -> None:
    label: str | None = f"{agent} ({results.where(agent=agent).share})"
    for _, runs in _sizes(results, agent):
        nodes, steps = runs.final("truth_nodes"), _steps(runs, measure)
        limit, x, cut = _limit(runs, measure), float(np.median(nodes)) * shift, np.isinf(steps)
        axes.plot(nodes[~cut] * shift, steps[~cut], ".", color=colour, alpha=0.25, markersize=4, markeredgewidth=0)
        axes.plot(nodes[cut] * shift, np.full(cut.sum(), limit), "x", color=colour, alpha=0.4, markersize=4)
        middle, low, high = (float(value) for value in interval(steps, statistic=np.median))
        mark, top = ("o", middle) if np.isfinite(middle) else ("^", limit)
        axes.plot([x, x], [min(low, limit), min(high, limit)], color=colour, linewidth=1.4)
        axes.plot([x], [top], mark, color=colour, markersize=5, label=label)
        label = None
    _draw_fits(axes, results, agent, measure, colour=colour)


def _draw_fits(axes: Axes, results: Results, agent: str, measure: str, *, colour: str) -> None:
    nodes, steps = _grouped(results, agent, measure)
    if not nodes:
        return
    middles = [float(np.median(each)) for each in nodes]
    x = np.linspace(min(middles), max(middles), 50)
    if found := power(nodes, steps):
        axes.plot(x, np.exp(found.intercept) * x**found.slope, "--", color=colour, linewidth=0.9)
    if agent == "random" and (found := exponential(nodes, steps)):
        axes.plot(x, np.exp(found.intercept + found.slope * x), ":", color=colour, linewidth=1.1)


def _stretch(row: list[Axes], results: Results, measure: str) -> None:
    """End the linear axis where efex was cut off, and the other where random walks were."""
    efex, random = ([_limit(runs, measure) for _, runs in _sizes(results, agent)] for agent in ("efex", "random"))
    row[0].set_ylim(0, 1.08 * max(efex or random or [1]))
    row[1].set_ylim(top=1.6 * max(efex + random or [10]))


def _grouped(results: Results, agent: str, measure: str) -> tuple[list[Runs], list[Runs]]:
    """Return the nodes and the steps of every run, size by size."""
    groups = [runs for _, runs in _sizes(results, agent)]
    return [runs.final("truth_nodes") for runs in groups], [_steps(runs, measure) for runs in groups]


def _tours(results: Results, agent: str) -> list[Runs]:
    """Return what a tour of the same maze took, for every run, size by size."""
    sizes = _sizes(results, agent)
    return [of_tours(runs, results.where(agent="tour", size=size), "tried_steps") for size, runs in sizes]


def _levels(results: Results, folder: Path) -> str:
    """Tell the median steps of every size, and how many runs were cut off."""
    rows = []
    for agent in AGENTS:
        for size, runs in _sizes(results, agent):
            row = [agent, size, f"{np.median(runs.final('truth_nodes')):.0f}", runs.share]
            for measure in MEASURES:
                if measure not in _measures(agent):
                    row += ["", ""]
                    continue
                steps = _steps(runs, measure)
                row += [median_steps(steps), f"{np.isinf(steps).sum()} at {_limit(runs, measure):,}"]
            rows.append(row)
    headings = ["agent", "size", "nodes", "runs"]
    for title in MEASURES.values():
        headings += [title, "cut off"]
    title = "Steps until, median (95 % interval); a median beyond the cut is never:"
    return f"{title}\n\n" + table(folder, "scaling-steps", headings, rows)


def _recovery(results: Results, folder: Path) -> str:
    """Tell the steps until maps are right, near and far, and how many times a tour's they are."""
    rows = []
    for agent in RECOVERING:
        for (size, runs), tours in zip(_sizes(results, agent), _tours(results, agent), strict=True):
            cells = [*recovered(runs, tours, "everywhere"), over_tours(_steps(runs, "tried"), tours)]
            rows.append([agent, size, runs.share, median_steps(tours), *cells])
    columns = ["agent", "size", "runs", "steps of the tour", *level_headings(" everywhere")]
    columns.append("all tried, over the tour's")
    title = (
        "Steps to recover: until precision on short walks from everywhere stays at a level, as seen at the marks, "
        f"for random walks up to {RANDOM_MARKS[-1]:,} steps; median (95 % interval), and over those of a tour:"
    )
    return f"{title}\n\n" + table(folder, "scaling-recovery", columns, rows)


def _growth(results: Results, folder: Path) -> str:
    """Tell the fitted growth, and how much of the runs it rests on."""
    rows = []
    for agent in AGENTS:
        for measure in _measures(agent):
            nodes, steps = _grouped(results, agent, measure)
            if not steps:
                continue
            pooled = np.concatenate(steps)
            medians = sum(bool(np.isfinite(np.median(each))) for each in steps)
            row = [agent, MEASURES[measure], f"{medians} of {len(steps)}", f"{np.isinf(pooled).sum()} of {len(pooled)}"]
            row.append(_exponent(power(nodes, steps)))
            row.append("" if agent == "tour" else _exponent(power(_tours(results, agent), steps)))
            rows.append([*row, _doubling(exponential(nodes, steps)) if agent == "random" else ""])
    headings = ["agent", "steps until", "sizes with a median", "runs cut off", "exponent of a power law"]
    headings += ["of the tour's steps", "exponential: nodes to double"]
    title = (
        "Growth with the number of nodes, and with the steps that a tour takes which knows the map of the same mazes "
        "(1 is linear): least squares on the logarithms of the medians (95 % bootstrap interval). "
        "Sizes of which most runs were cut off have no median and do not enter, so that growth is underestimated there:"
    )
    return f"{title}\n\n" + table(folder, "scaling-growth", headings, rows)


def _exponent(found: Growth | None) -> str:
    return "-" if found is None else f"{found.slope:.2f} ({found.low:.2f} to {found.high:.2f})"


def _doubling(found: Growth | None) -> str:
    """Return after how many nodes more the steps double, "never" where they do not grow."""
    if found is None:
        return "-"
    nodes = [f"{np.log(2) / slope:.1f}" if slope > 0 else "never" for slope in (found.slope, found.high, found.low)]
    return f"{nodes[0]} ({nodes[1]} to {nodes[2]})"
