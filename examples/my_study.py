"""A study of your own: an agent class in this file, compared with two that ship, on a small maze.

Run: efex study run examples/my_study.py, then efex study report examples/my_study.py
"""

from os.path import relpath
from pathlib import Path

from efex.agents import Walker
from efex.study import Case, Study
from efex.study.drawing import COLOURS, band, figure, save, spread, table

AGENTS = ("efex", "random", f"{relpath(__file__)}:Persistent")


class Persistent(Walker):
    """Repeats its last action nine times in ten."""

    def choose(self, mask):
        last = self.experience.actions[len(self.experience) - 2] if len(self.experience) > 1 else -1
        if last >= 0 and self.rng.random() < 0.9 and (mask is None or mask[last]):
            return int(last)
        return self.random_action(mask)


def report(results, folder: Path) -> str:
    made, ((axes,),) = figure(1, 1, width=5, height=3)
    rows = []
    for agent, colour in zip(AGENTS, COLOURS):
        runs = results.where(agent=agent)
        if len(runs):
            name = agent.rpartition(":")[2]
            band(axes, *runs.curve("precision"), label=f"{name} ({runs.share})", colour=colour)
            rows.append([name, runs.share, spread(runs.final("precision")), spread(runs.final("coverage"))])
    axes.set(xlabel="steps", ylabel="precision", ylim=(0, 1.02))
    axes.legend(frameon=False)
    words = save(made, folder, "my-study", "Precision on a 6 x 6 grid, mean and 95 % band over runs.")
    return words + "\n" + table(folder, "my-study", ["agent", "runs", "precision", "coverage"], rows)


study = Study(
    "my-study",
    "Does it pay to persist?",
    tuple(
        Case(
            "grid2d",
            agent,
            1_500,
            seed,
            options=(("size", 6), ("unique_fraction", 0.3)),
            marks=(250, 500, 1_000, 1_500),
        )
        for agent in AGENTS
        for seed in range(4)
    ),
    report,
)
