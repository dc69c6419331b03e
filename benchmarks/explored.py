"""Worlds that the default agent has explored, kept for the benchmarks that use its maps."""

from __future__ import annotations

import argparse
from pathlib import Path

import efex
from efex.run import Run


def options_of(description: str | None, *, unique_fraction: float) -> argparse.ArgumentParser:
    """Return a parser of the options that say what is explored and how long."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=[3000])
    parser.add_argument("--steps", type=int, default=10_000, help="how long a world is explored")
    parser.add_argument("--unique-fraction", type=float, default=unique_fraction)
    parser.add_argument("--slip", type=float, default=0.0)
    parser.add_argument("--keep", default="runs/navigate", help="where explorations are kept")
    return parser


def explored(name: str, seed: int, options: argparse.Namespace) -> Run:
    """Return the run of the default agent in a world, from the folder where it was kept, if it was."""
    folder = Path(options.keep) / f"{name}-{options.unique_fraction}-{options.slip}-{options.steps}-{seed}"
    if folder.is_dir():
        return efex.load(folder)
    world = efex.make(name, unique_fraction=options.unique_fraction, slip=options.slip, seed=seed)
    return efex.explore(world, steps=options.steps, seed=seed, progress=False, folder=folder)
