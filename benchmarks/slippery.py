"""More seeds of the worlds where actions slip than `topologies` has, to compare default agents; a study of our own.

    efex study run benchmarks/slippery.py
    efex study export benchmarks/slippery.py docs/results/slippery.jsonl.gz

Seeds 2000 to 2004 are those of `topologies`, which has played them already; benchmarks/defaults.py compares. Runs are
shorter: the first steps of a run are the same however long it is.
"""

from __future__ import annotations

from pathlib import Path

from efex.study import Case, Study
from efex.study.drawing import spread, table
from efex.study.results import Results

WORLDS = ("grid3d", "grid2d", "icg", "dense-maze", "sparse-maze")
STEPS = {0.01: 10_000, 0.1: 15_000}
"""How long a run is, by how often actions slip."""
SEEDS = range(2000, 2010)
MARKS = (*range(500, 10_000, 500), 10_000, 15_000)
LEVEL = 0.95


def report(results: Results, folder: Path) -> str:
    """Tell how precise maps are at the end, and after how many steps they stay precise."""
    rows = []
    for slip in STEPS:
        for world in WORLDS:
            runs = results.where(world=world, slip=slip)
            if len(runs):
                steps = spread(runs.reached(LEVEL), median=True, digits=0)
                rows.append([world, f"{slip:g}", runs.share, steps, spread(runs.final("precision"))])
    return table(folder, "slippery", ["world", "slip", "runs", f"steps to {LEVEL}", "precision at the end"], rows)


study = Study(
    "slippery",
    "Where actions slip",
    tuple(
        Case(
            world,
            "efex",
            steps,
            seed,
            options=(("unique_fraction", 0.1), ("slip", slip)),
            marks=tuple(mark for mark in MARKS if mark <= steps),
        )
        for seed in SEEDS
        for slip, steps in STEPS.items()
        for world in WORLDS
    ),
    report,
)
