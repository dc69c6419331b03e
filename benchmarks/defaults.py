"""The default agent beside the one it replaced, on the same worlds and seeds.

    cd docs/results; python ../../benchmarks/defaults.py --before previous.jsonl.gz --now topologies.jsonl.gz

prints a Markdown table from exports of the `topologies` study, or of others that play the same worlds: steps until
precision stays at 0.95 and 0.99, found on a straight line between the marks that all have; the ratio of the two is the
median over seeds that both played, with a 95 % bootstrap interval; precision at the end is a mean.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from efex.study.drawing import spread

LEVELS = (0.95, 0.99)
STEPS = [f"{what} {level}" for level in LEVELS for what in ("before", "now", "ratio")]
COLUMNS = ("world", "unique", "slip", "seeds", *STEPS, "before at the end", "now at the end")


class Cell(NamedTuple):
    """A world and its options."""

    world: str
    unique: float
    slip: float


Curves = dict[Cell, dict[int, dict[int, float]]]
"""Precision by cell, seed and mark."""


def read(paths: Iterable[Path]) -> Curves:
    """Return the curves of the agent `efex` in exports."""
    curves: Curves = {}
    for path in paths:
        lines = gzip.decompress(path.read_bytes()).splitlines()
        for _, spec, outcome, result, _ in map(json.loads, lines):
            case: dict[str, Any] = json.loads(spec)
            if case["agent"] == "efex" and not case["settings"] and outcome == "done" and "slip" in case["options"]:
                cell = Cell(case["world"], case["options"]["unique_fraction"], case["options"]["slip"])
                found = json.loads(result)
                curves.setdefault(cell, {}).setdefault(case["seed"], {}).update(zip(found["steps"], found["precision"]))
    return curves


def reached(marks: Sequence[int], curve: dict[int, float], level: float) -> float:
    """Return after how many steps precision stays at a level, infinity where it does not."""
    values = np.array([curve[mark] for mark in marks])
    below = np.flatnonzero(values < level)
    if len(below) == 0:
        return float(marks[0])
    last = int(below[-1])
    if last + 1 == len(marks):
        return float("inf")
    share = (level - values[last]) / (values[last + 1] - values[last])
    return float(marks[last] + share * (marks[last + 1] - marks[last]))


def ratio(before: float, now: float) -> float:
    """Return how many times the steps before are those now; a run that never got there took infinitely many."""
    if np.isinf(before):
        return 1.0 if np.isinf(now) else 0.0
    return now / before


def row(cell: Cell, before: dict[int, dict[int, float]], now: dict[int, dict[int, float]]) -> list[str]:
    """Return a line of the table."""
    seeds = sorted(set(before) & set(now))
    marks = sorted(set.intersection(*(set(runs[seed]) for runs in (before, now) for seed in seeds)))
    out = [cell.world, f"{cell.unique:g}", f"{cell.slip:g}", str(len(seeds))]
    for level in LEVELS:
        old, new = (np.array([reached(marks, runs[seed], level) for seed in seeds]) for runs in (before, now))
        ratios = [ratio(*pair) for pair in zip(old, new)]
        out += [*(f"{np.median(each):,.0f}" for each in (old, new)), spread(ratios, median=True, digits=2)]
    ends = [np.mean([runs[seed][marks[-1]] for seed in seeds]) for runs in (before, now)]
    return [*out, *(f"{end:.4f}" for end in ends)]


def main() -> None:
    """Compare exports."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, nargs="+", required=True, help="exports of the one")
    parser.add_argument("--now", type=Path, nargs="+", required=True, help="exports of the other")
    chosen = parser.parse_args()
    before, now = read(chosen.before), read(chosen.now)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for cell in sorted(before, key=lambda cell: (cell.slip, cell.unique, cell.world)):
        if set(before[cell]) & set(now.get(cell, {})):
            print("| " + " | ".join(row(cell, before[cell], now[cell])) + " |")


if __name__ == "__main__":
    main()
