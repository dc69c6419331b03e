"""What makes the default robust: each part switched off alone, on the five topologies."""

from __future__ import annotations

from pathlib import Path

from efex.study.case import Case, Settings
from efex.study.drawing import figure, median_steps, one_legend, save, table
from efex.study.paper import SEEDS
from efex.study.paper.dots import draw_dots, levels
from efex.study.paper.topologies import WORLDS
from efex.study.results import Results
from efex.study.study import Study

STEPS = 5_000
MARKS = (500, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 5_000)
EARLY = 1_500
SHOWN = (EARLY, 2_500, STEPS)
"""When the default knows some of a world, nearly all of it, and all."""
LEVEL = 0.95
RUNS = 5
DEFAULT = "default"
VARIANTS: dict[str, Settings] = {
    DEFAULT: (),
    "no reckoning": (("start", "unreckoned"),),
    "sure of its place": (("hedged", False),),
    "no brief refits": (("prompt", 0),),
    "no re-decoding": (("start", "as-decoded"),),
    "odds of two places fixed": (("start", "fixed-odds"),),
    "nothing left to chance": (("start", "chanceless"),),
    "prior of a row fixed": (("prior", "0.07/row"),),
    "no melting": (("start", "unmelted"),),
    "no contexts": (("start", "contextless"),),
    "no merging, no contexts": (("start", "split"),),
    "merging alone": (("start", "merge"),),
    "EM, warm and fresh": (("start", "rivals"),),
    "EM, warm": (("start", "warm"),),
    "EM, fresh": (("start", "fresh"),),
    "no scrutiny": (("scrutiny", 0.0),),
    "no restlessness": (("restlessness", 0.0),),
    "no patience": (("patient", False),),
    "refits between episodes": (("refit", "episode"),),
    "the paper's pseudocounts": (("prior", 0.002), ("pseudocount", 0.002)),
}
"""What is switched off, and how."""


def study() -> Study:
    """Return the study: 5 seeds of every variant in every world."""
    cases = tuple(
        Case(world, "efex", STEPS, SEEDS + seed, options=(("unique_fraction", 0.1),), settings=settings, marks=MARKS)
        for seed in range(RUNS)
        for world in WORLDS
        for settings in VARIANTS.values()
    )
    return Study("ablation", "What makes the default robust", cases, report)


def variant(results: Results, world: str, name: str) -> Results:
    """Return the runs of a variant in a world."""
    return results.where(world=world, settings=tuple(sorted(VARIANTS[name])))


def report(results: Results, folder: Path) -> str:
    """Draw the precision of every variant early and late, and tell it at every mark."""
    made, (row,) = figure(1, len(WORLDS), width=2.7, height=4.2)
    for axes, world in zip(row, WORLDS):
        runs = {name: variant(results, world, name) for name in VARIANTS}
        draw_dots(axes, runs, early=EARLY, late=STEPS, default=DEFAULT)
        axes.set_title(f"{world} ({results.where(world=world).share})", fontsize=9)
        axes.set_xlabel("precision", fontsize=8)
        if axes is not row[0]:
            axes.set_yticklabels([])
    one_legend(made)
    caption = f"Precision with one part switched off, mean with 95 % interval, and every run; {results.share}."
    return save(made, folder, "ablation", caption) + "\n" + _table(results, folder)


def _table(results: Results, folder: Path) -> str:
    rows = []
    for world in WORLDS:
        for name in VARIANTS:
            runs = variant(results, world, name)
            if len(runs):
                steps = median_steps(runs.reached(LEVEL))
                rows.append([world, name, runs.share, steps, *levels(runs, SHOWN)])
    headings = ["world", "variant", "runs", f"steps to {LEVEL}"]
    headings += [*(f"at {mark:,}" for mark in SHOWN), "worst at the end"]
    return "Median steps until precision stays at a level, and mean precision (95 % interval):\n\n" + table(
        folder, "ablation", headings, rows
    )
