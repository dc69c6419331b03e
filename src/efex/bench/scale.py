"""How cost grows with the world: an EM iteration on larger and larger grids, and the memory it takes.

Each world runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from efex.bench.learning import iteration_time
from efex.bench.measuring import Line, in_products
from efex.bench.workloads import random_model, random_walks
from efex.model.em import em

CLONES, STEPS_PER_NODE = 20, 20


def lines() -> Iterator[Line]:
    """Yield one EM iteration and the peak memory of the 100 x 100 grid, then the cost per step of four grids."""
    large = _measure(100)
    yield in_products("EM iteration, grid2d(100), 20,000 states, 200,000 steps", large["seconds"], 1.5, *_check(large))
    yield Line("peak memory of it", large["peak"] / 1e9, "GB", 1.5, _size(large), large["sound"])
    first: dict[str, Any] | None = None
    for size in (21, 32, 100, 200):
        found = large if size == 100 else _measure(size)
        first = first or found
        ratio = found["seconds"] / found["steps"] / (first["seconds"] / first["steps"])
        what = f"time per step and iteration, {size * size:,} nodes"
        yield Line(
            what,
            ratio,
            "of 441 nodes'",
            3.0,
            f"{1e9 * found['seconds'] / found['steps']:.0f} ns, {_size(found)}",
            found["sound"],
        )


def _check(found: dict[str, Any]) -> tuple[str, bool]:
    return f"{found['counted']:.6g} steps counted of {found['steps']:,}", found["sound"]


def _size(found: dict[str, Any]) -> str:
    entries, peak = found["entries"], found["peak"]
    return (
        f"{found['blocks']:,} blocks, {4 * entries / 1e9:.2g} GB each for counts and weights; peak {peak / 1e9:.2g} GB"
    )


def _measure(size: int) -> dict[str, Any]:
    """Return what `report` prints about a grid in a process of its own."""
    done = subprocess.run([sys.executable, "-m", __name__, str(size)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report(size: int) -> dict[str, Any]:
    """Return the seconds of one EM iteration on a grid of so many rows and columns, and what it took."""
    experience = random_walks(size, episodes=size * size * STEPS_PER_NODE // 100)
    model = random_model(experience, CLONES)

    taken = iteration_time(model, experience, 8, prune=0, repeats=3 if size >= 100 else 20)
    trained = em(model, experience, iterations=2, tolerance=0, prune=0).model
    counted = float(trained.totals.sum())
    return {
        "seconds": taken,
        "steps": experience.n_steps,
        "blocks": len(model.blocks),
        "entries": model.blocks.n_entries,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "counted": counted,
        "sound": abs(counted / experience.n_steps - 1) < 1e-4,
    }


if __name__ == "__main__":
    print(json.dumps(report(int(sys.argv[1]))))
