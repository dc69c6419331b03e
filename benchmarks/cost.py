"""What a step of experience costs the default agent, beside the default agent of another checkout.

    git worktree add ../before 7271289
    NUMBA_NUM_THREADS=1 python benchmarks/cost.py --beside ../before --seeds 1500 1501 1502

prints a Markdown table: processor seconds of whole explorations, one thread each, and their ratio, a row a world. The
two checkouts take turns, world by world and seed by seed, so that whatever else the machine does befalls both; every
process explores another world first, until everything is compiled. The precision of the maps stands beside, since a
worse map would be cheap.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
WORLDS = (
    ("grid2d", 0.1, 0.0, 5_000),
    ("icg", 0.1, 0.0, 5_000),
    ("sparse-maze", 0.1, 0.0, 5_000),
    ("dense-maze", 0.1, 0.01, 10_000),
    ("grid2d", 0.1, 0.1, 10_000),
    ("sparse-maze", 0.1, 0.1, 15_000),
    ("grid3d", 1.0, 0.0, 10_000),
    ("teleport-maze", 0.1, 0.0, 3_000),
)
"""Worlds, unique fractions, slips, and for how many steps each is explored."""
NAMES = sorted({name for name, *_ in WORLDS})
COMPILING = 700
"""Steps after which all that takes time has been compiled."""


def explored(name: str, unique: float, slip: float, steps: int, seed: int) -> dict[str, float]:
    """Return the processor seconds that an exploration took, and how precise its map is."""
    import efex

    warnings.simplefilter("ignore")
    for length, at in ((COMPILING, seed + 1), (steps, seed)):
        world = efex.make(name, unique_fraction=unique, slip=slip, seed=at)
        clones = math.ceil(2 * world.truth.n_nodes / len(set(world.truth.observations)))
        begin = time.process_time()
        run = efex.explore(world, steps=length, seed=at, clones=clones, progress=False)
    seconds = time.process_time() - begin
    return {"seconds": seconds, "precision": efex.measures.precision(run, world, walks=20)}


def played(checkout: Path, case: tuple[object, ...]) -> dict[str, float]:
    """Return the same, played by a process of its own with the code of a checkout."""
    paths = {"PYTHONPATH": str(checkout.resolve() / "src"), "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, __file__, "--play", json.dumps(case)],
        env=os.environ | paths,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print what explorations cost here and there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path, help="another checkout")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1500])
    parser.add_argument("--worlds", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--play", type=json.loads, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.play:
        print(json.dumps(explored(*chosen.play)))
        return
    if chosen.beside is None or not (chosen.beside / "src" / "efex").is_dir():
        parser.error(f"--beside must be the folder of another checkout, with src/efex in it, not {chosen.beside}")
    print("| world | unique | slip | steps | seed | seconds there | here | ratio | precision there | here |")
    print("|---" * 10 + "|")
    for name, unique, slip, steps in WORLDS:
        ratios = []
        for seed in chosen.seeds if name in chosen.worlds else []:
            there, here = (played(each, (name, unique, slip, steps, seed)) for each in (chosen.beside, HERE))
            ratios.append(here["seconds"] / there["seconds"])
            row = [name, f"{unique:g}", f"{slip:g}", f"{steps:,}", str(seed), f"{there['seconds']:.1f}"]
            row += [f"{here['seconds']:.1f}", f"{ratios[-1]:.2f}", f"{there['precision']:.3f}"]
            print("| " + " | ".join([*row, f"{here['precision']:.3f}"]) + " |", flush=True)
        if len(ratios) > 1:
            median = f"median {statistics.median(ratios):.2f}, at most {max(ratios):.2f}"
            print(f"| {name} | {unique:g} | {slip:g} | | all | | | {median} | | |", flush=True)


if __name__ == "__main__":
    main()
