"""Whole things a user waits for: loading the package, and a run of the literal algorithm."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from efex.bench.measuring import Line, best_time
from efex.explore import explore
from efex.measures import precision
from efex.worlds import make


def lines() -> Iterator[Line]:
    """Yield the time of `import efex` and of a literal run on the grid."""
    seconds = best_time(lambda: subprocess.run([sys.executable, "-c", "import efex"], check=True), repeats=5)
    heavy = "import efex, sys; sys.exit(bool({'scipy.special', 'matplotlib', 'jax', 'pandas'} & set(sys.modules)))"
    light = subprocess.run([sys.executable, "-c", heavy], check=False).returncode == 0
    yield Line("import efex", seconds, "s", 0.8, "a new process; nothing heavy is loaded", light)
    yield _literal_run()


def _literal_run() -> Line:
    explore(make("grid2d", size=5, unique_fraction=0.3), steps=300, agent="efex-paper", clones=2, progress=False)
    world = make("grid2d", size=21, unique_fraction=0.1, seed=0)
    begin = time.perf_counter()
    run = explore(world, steps=15_000, seed=0, agent="efex-paper", clones=20, progress=False)
    seconds = time.perf_counter() - begin
    score = precision(run, world)
    what = "literal run: grid2d, 15,000 steps, refit per episode, replanned every step"
    return Line(what, seconds, "s", 25.0, f"precision {score:.3f}", score > 0.85)
