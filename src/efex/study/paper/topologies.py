"""Five topologies, three degrees of aliasing, three of slip: the paper's main figures, and the tour beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.ticker import MaxNLocator

from efex.study.case import Case, Settings
from efex.study.drawing import COLOUR, band, figure, median_steps, one_legend, save, spread, table
from efex.study.paper import SEEDS
from efex.study.paper.touring import level_headings, of_tours, recovered
from efex.study.results import Results
from efex.study.study import Study

WORLDS = ("grid3d", "grid2d", "icg", "dense-maze", "sparse-maze")
STEPS = {0.1: 30_000, 0.3: 20_000, 1.0: 10_000}
"""Steps of a run by unique fraction."""
VARIATIONAL_STEPS = {0.1: 6_000, 0.3: 4_000, 1.0: 2_000}
"""The same with variational Bayes: until there is little more to see of efex."""
SLIPS = (0.0, 0.01, 0.1)
LATE = (10_000, 15_000, 20_000, 25_000, 30_000)
MARKS = {
    "efex": (*range(500, 10_000, 500), *LATE),
    "efex-paper": (500, *range(1_000, 10_000, 1_000), *LATE),
    "random": (1_000, 2_000, 5_000, 10_000, 20_000, 30_000),
}
"""When maps are measured; from a random walk a map is learned at every mark, from nothing."""
VARIATIONAL_MARKS = {"efex": (500, 1_000, 1_500, *range(2_000, 6_000, 1_000)), "random": (1_000, 2_000, 4_000)}
"""The same with variational Bayes."""
MOMENTS = {"topologies": (5_000, 10_000, 15_000, 20_000, 30_000), "topologies-vb": (1_000, 2_000, 4_000, 6_000)}
"""When a table tells the precision."""
AGENTS = tuple(MARKS)
MEASURES = {
    "precision": "precision",
    "coverage": "weighted coverage",
    "log_likelihood": "log-likelihood in nats per step",
}


def cells() -> Iterator[tuple[float, float, int]]:
    """Yield (unique fraction, slip, seeds), the hardest deterministic cell first."""
    for unique in STEPS:
        yield unique, 0.0, 40 if unique == 0.1 else 10
    for unique in STEPS:
        for slip in SLIPS[1:]:
            yield unique, slip, 5


def _runs(agent: str, slip: float, seeds: int) -> int:
    """Return how many of a cell's seeds an agent plays: the paper's own is here to be compared where nothing slips."""
    return seeds if agent != "efex-paper" else 0 if slip else min(seeds, 10)


def case(
    world: str,
    agent: str,
    unique: float,
    slip: float,
    seed: int,
    *,
    steps: int,
    settings: Settings = (),
    marks: tuple[int, ...] | None = None,
) -> Case:
    """Return one run of the grid of worlds."""
    marks = tuple(sorted({*(mark for mark in marks or MARKS[agent] if mark <= steps), steps}))
    options = (("unique_fraction", unique), ("slip", slip))
    return Case(world, agent, steps, SEEDS + seed, options=options, settings=settings, marks=marks)


def study() -> Study:
    """Return the study with EM and Viterbi training; where nothing slips, a tour that knows the map walks beside."""
    cases = [
        case(world, agent, unique, slip, seed, steps=STEPS[unique])
        for unique, slip, seeds in cells()
        for agent in AGENTS
        for seed in range(_runs(agent, slip, seeds))
        for world in WORLDS
    ]
    tours = [
        Case(world, "tour", 10_000, SEEDS + seed, options=(("unique_fraction", unique), ("slip", 0.0)))
        for unique, slip, seeds in cells()
        if slip == 0
        for seed in range(seeds)
        for world in WORLDS
    ]
    return Study("topologies", "Five topologies, EM and Viterbi training", (*tours, *cases), report)


def variational_study() -> Study:
    """Return the same with EM and variational Bayes, 5 seeds a cell, in a fifth of the steps."""

    def played(world: str, agent: str, unique: float, slip: float, seed: int) -> Case:
        marks, steps = VARIATIONAL_MARKS[agent], VARIATIONAL_STEPS[unique]
        return case(world, agent, unique, slip, seed, steps=steps, settings=(("method", "em+vb"),), marks=marks)

    cases = tuple(
        played(world, agent, unique, slip, seed)
        for agent in VARIATIONAL_MARKS
        for unique, slip, _ in cells()
        for seed in range(5)
        for world in WORLDS
    )
    return Study("topologies-vb", "Five topologies, EM and variational Bayes, a fifth as long", cases, report)


def report(results: Results, folder: Path) -> str:
    """Draw every measure against steps, and tell who recovers the map after how many steps."""
    parts = [_curves(results, folder, measure) for measure in MEASURES]
    return "\n".join([*parts, _levels(results, folder), _recovery(results, folder)])


def _curves(results: Results, folder: Path, measure: str) -> str:
    grid = [(unique, slip) for slip in SLIPS for unique in STEPS]
    # A row of which nothing was played would be empty axes; the table below says what is missing.
    played = [cell for cell in grid if len(_explorers(results.where(unique_fraction=cell[0], slip=cell[1])))]
    grid = played or grid[:1]
    made, panels = figure(len(grid), len(WORLDS), width=2.9, height=2.1)
    for row, (unique, slip) in zip(panels, grid):
        for axes, world in zip(row, WORLDS):
            shares = []
            for agent in AGENTS:
                runs = results.where(world=world, agent=agent, unique_fraction=unique, slip=slip)
                if len(runs):
                    band(axes, *runs.curve(measure), label=agent, colour=COLOUR[agent])
                    shares.append(f"{agent} {runs.share}")
            axes.set_title(f"{world}, unique {unique:g}, slip {slip:g}\n{', '.join(shares)}", fontsize=7)
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.tick_params(labelsize=8)
            if measure != "log_likelihood":
                axes.set_ylim(0, 1.03)
        row[0].set_ylabel(MEASURES[measure], fontsize=8)
    for axes in panels[-1]:
        axes.set_xlabel("steps", fontsize=8)
    one_legend(made)
    name = f"{_prefix(results)}-{measure.replace('_', '-')}"
    caption = f"The {MEASURES[measure]} against steps, mean and 95 % band over runs"
    alone = "; efex-paper is played where nothing slips" if len(results.where(agent="efex-paper")) else ""
    return save(made, folder, name, f"{caption}{alone}.")


def _explorers(results: Results) -> Results:
    return Results([pair for pair in results.done if pair[0].agent != "tour"], results.cases)


def _prefix(results: Results) -> str:
    return "topologies-vb" if any(case.setting("method") for case in results.cases) else "topologies"


def _levels(results: Results, folder: Path) -> str:
    """Tell the mean precision at a few moments, and the worst run at the end."""
    moments, rows = MOMENTS[_prefix(results)], []
    for unique, slip, _ in cells():
        for world in WORLDS:
            for agent in AGENTS:
                runs = results.where(world=world, agent=agent, unique_fraction=unique, slip=slip)
                if len(runs) == 0:
                    continue
                steps, values = runs.curve("precision")
                at = [spread(values[:, np.flatnonzero(steps == mark)[0]]) if mark in steps else "" for mark in moments]
                cell = [world, f"{unique:g}", f"{slip:g}", agent, runs.share]
                rows.append([*cell, *at, f"{values[:, -1].min():.3f}"])
    headings = ["world", "unique", "slip", "agent", "runs", *(f"at {mark:,}" for mark in moments), "worst at the end"]
    return "Mean precision (95 % interval):\n\n" + table(folder, f"{_prefix(results)}-precision", headings, rows)


def _recovery(results: Results, folder: Path) -> str:
    """Tell the steps to precision 0.95 and 0.99, and how many times they are those of a tour on which nothing slips."""
    rows = []
    for unique, slip, _ in cells():
        for world in WORLDS:
            walked = results.where(world=world, agent="tour", unique_fraction=unique, slip=0.0)
            for agent in AGENTS:
                runs = results.where(world=world, agent=agent, unique_fraction=unique, slip=slip)
                tours = of_tours(runs, walked, "covered_steps")
                if np.isfinite(tours).any():
                    row = [
                        world,
                        f"{unique:g}",
                        f"{slip:g}",
                        agent,
                        runs.share,
                        median_steps(tours[np.isfinite(tours)]),
                    ]
                    rows.append(row + recovered(runs, tours))
    columns = ["world", "unique", "slip", "agent", "runs", "steps of the tour", *level_headings()]
    title = (
        "Steps until precision stays at a level, as seen at every 500 steps (efex-paper: 1,000) up to 10,000 and more "
        "rarely after that, median (95 % interval), and over those of a tour of the known map on which nothing slips:"
    )
    return f"{title}\n\n" + table(folder, f"{_prefix(results)}-recovery", columns, rows) if rows else ""
