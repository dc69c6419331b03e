"""The options that every example takes."""

from __future__ import annotations

import argparse
from pathlib import Path


def options(description: str) -> argparse.Namespace:
    """Return what the command line asks for: `short`, `seed`, and `out`, a folder that is there."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="seconds instead of minutes: fewer steps, weaker claims")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first run")
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder for pictures and tables")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen
