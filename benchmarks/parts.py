"""What parts of the default agent do where one action in ten slips, each switched off alone; a study of our own.

    efex study run benchmarks/parts.py
    efex study export benchmarks/parts.py docs/results/parts.jsonl.gz
    efex study report benchmarks/parts.py --out docs/results

The study `ablation` has all parts where nothing slips; these are the ones that had no effect there, and asking which
one this is. Seeds come one after another, so that whatever was played compares all parts.
"""

from __future__ import annotations

from pathlib import Path

from efex.study import Case, Study
from efex.study.drawing import figure, median_steps, one_legend, save, table
from efex.study.paper.ablation import DEFAULT, LEVEL, VARIANTS
from efex.study.paper.dots import draw_dots, levels
from efex.study.results import Results

WORLDS = ("grid2d", "sparse-maze")
STEPS = 6_000
MARKS = tuple(range(500, STEPS + 1, 500))
EARLY, SHOWN = 3_000, (2_000, 3_000, 4_000, STEPS)
SEEDS = range(2000, 2005)
PARTS = {
    name: VARIANTS[name]
    for name in (
        DEFAULT,
        "sure of its place",
        "odds of two places fixed",
        "nothing left to chance",
        "no scrutiny",
        "no restlessness",
        "no patience",
    )
} | {"asks nothing": (("telling", 0.0),)}


def report(results: Results, folder: Path) -> str:
    """Draw the precision of every variant early and late, and tell it at every mark."""
    made, (row,) = figure(1, len(WORLDS), width=4.0, height=2.8)
    rows = []
    for axes, world in zip(row, WORLDS, strict=True):
        runs = {name: results.where(world=world, settings=tuple(sorted(said))) for name, said in PARTS.items()}
        draw_dots(axes, runs, early=EARLY, late=STEPS, default=DEFAULT)
        axes.set_title(f"{world} ({results.where(world=world).share})", fontsize=9)
        axes.set_xlabel("precision", fontsize=8)
        for name, each in runs.items():
            if len(each):
                steps = median_steps(each.reached(LEVEL))
                rows.append([world, name, each.share, steps, *levels(each, SHOWN)])
    one_legend(made)
    caption = f"Precision with one part switched off where one action in ten slips, every run; {results.share}."
    headings = [
        "world",
        "variant",
        "runs",
        f"steps to {LEVEL}",
        *(f"at {mark:,}" for mark in SHOWN),
        "worst at the end",
    ]
    return save(made, folder, "parts", caption) + "\n" + table(folder, "parts", headings, rows)


study = Study(
    "parts",
    "Parts of the default agent where one action in ten slips",
    tuple(
        Case(
            world,
            "efex",
            STEPS,
            seed,
            options=(("unique_fraction", 0.1), ("slip", 0.1)),
            settings=settings,
            marks=MARKS,
        )
        for seed in SEEDS
        for world in WORLDS
        for settings in PARTS.values()
    ),
    report,
)
