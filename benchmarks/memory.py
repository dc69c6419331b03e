"""How much memory an exploration takes, as experience grows and as the world does.

    python benchmarks/memory.py

prints a Markdown table: the most that the default agent held beyond what a small exploration in the same process had
taken (compiled kernels, mostly), and what that is for every step and every node it has been to. Every row is a process
of its own. If memory follows the data, it stays as it is once a world is known, however long that is walked, and the
last column stays from world to world.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import warnings

SIZES = {11: (5_000,), 21: (2_500, 5_000, 10_000, 20_000), 31: (10_000,)}
"""The sides of square grids, and for how many steps each is explored."""


def peak() -> int:
    """Return the most bytes that this process ever held, on Linux."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def explored(size: int, steps: int, seed: int) -> dict[str, float]:
    """Return what an exploration took beyond a small one, and how much it has seen."""
    import efex

    warnings.simplefilter("ignore")
    small = efex.make("grid2d", size=5, unique_fraction=0.1, seed=seed)
    efex.explore(small, steps=700, seed=seed, progress=False)
    before = peak()
    world = efex.make("grid2d", size=size, unique_fraction=0.1, seed=seed)
    run = efex.explore(world, steps=steps, seed=seed, progress=False)
    return {
        "bytes": peak() - before,
        "seen": len(set(run.true_nodes)),
        "precision": efex.measures.precision(run, world, walks=10),
    }


def main() -> None:
    """Print what explorations hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1500)
    parser.add_argument("--play", type=json.loads, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.play:
        print(json.dumps(explored(*chosen.play)))
        return
    print("| nodes | steps | nodes visited | precision | MB | kB a step | kB a node |")
    print("|---" * 7 + "|")
    explored(5, 700, chosen.seed)  # compiles what is not compiled yet, in a process that is not measured
    for size, lengths in SIZES.items():
        for steps in lengths:
            asked = [sys.executable, __file__, "--play", json.dumps([size, steps, chosen.seed])]
            found = json.loads(subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout)
            held, seen, nodes = found["bytes"], int(found["seen"]), size * size
            row = [f"{nodes:,}", f"{steps:,}", f"{seen:,}", f"{found['precision']:.3f}", f"{held / 1e6:.0f}"]
            row += [f"{held / steps / 1e3:.1f}", f"{held / seen / 1e3:.0f}"]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
