"""The unaliased chain of 50 nodes: how many episodes until every transition was walked, and the stochastic trap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from efex.study.case import Case
from efex.study.drawing import COLOUR, band, figure, median_steps, save, table
from efex.study.paper import SEEDS
from efex.study.paper.touring import of_tours, over_tours
from efex.study.results import Results
from efex.study.study import Study

LENGTH, EPISODE = 50, 59
AGENTS = {
    "efex": 40,
    "efex-paper": 40,
    "max": 60,
    "random": 200,
    "bonus-dqn": 200,
    "bootstrapped-dqn": 200,
    "tour": 40,
}
"""The agents, and after how many episodes their runs end."""
DEEP = ("bonus-dqn", "bootstrapped-dqn")


def study() -> Study:
    """Return the study: 100 seeds, 20 for the deep baselines; a tour that knows the map walks beside."""
    cases = tuple(
        Case("chain", agent, EPISODE * episodes, SEEDS + seed, options=(("length", LENGTH), ("trap", trap)), clones=1.0)
        for agent, episodes in AGENTS.items()
        for trap in (False, True)
        for seed in range(20 if agent in DEEP else 100)
    )
    return Study("chain", "Coverage of the chain", cases, report)


def report(results: Results, folder: Path) -> str:
    """Draw coverage against episodes, and tell when all was covered."""
    made, (panels,) = figure(1, 2, width=4.2, height=3.0)
    rows = []
    for axes, trap in zip(panels, (False, True)):
        for agent in AGENTS:
            runs = results.where(agent=agent, trap=trap)
            if len(runs) == 0:
                continue
            x, coverage = runs.curve("curve_coverage", at="curve_steps")
            label, style = f"{agent} ({runs.share})", ":" if agent == "tour" else "-"
            band(axes, x / EPISODE, coverage, label=label, colour=COLOUR[agent], style=style)
            episodes = runs.final("covered_episodes")
            trapped = "with the trap" if trap else "without"
            row = [agent, trapped, runs.share, median_steps(episodes), _extremes(episodes)]
            steps = runs.final("covered_steps")
            tours = of_tours(runs, results.where(agent="tour", trap=trap), "covered_steps")
            rows.append([*row, median_steps(steps), over_tours(steps, tours)])
        axes.set(title="with the stochastic trap" if trap else "without a trap", xlabel="episodes", xlim=(0, 40))
        if axes.has_data():
            axes.legend(fontsize=7, frameon=False, loc="upper right", bbox_to_anchor=(1.0, 0.98))
    panels[0].set_ylabel("weighted coverage")
    caption = f"Coverage of the {LENGTH}-node chain, mean and 95 % band over runs."
    headings = ["agent", "trap", "runs", "episodes until all was walked, median (95 %)", "fewest to most"]
    headings += ["steps until then", "over the tour's"]
    return save(made, folder, "chain", caption) + "\n" + table(folder, "chain", headings, rows)


def _extremes(episodes: NDArray[np.float64]) -> str:
    return " to ".join("never" if np.isinf(count) else f"{count:.0f}" for count in (episodes.min(), episodes.max()))
