"""The table of all benchmarks, printed line by line as they finish."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator

import numba

from efex.bench import learning, merging, planning, scale, utility, wholes
from efex.bench.measuring import HEADINGS, Line, product_time
from efex.errors import InvalidArgumentError

CASES: dict[str, Callable[[], Iterator[Line]]] = {
    "learning": learning.lines,
    "planning": planning.lines,
    "merging": merging.lines,
    "wholes": wholes.lines,
    "scale": scale.lines,
    "utility": utility.lines,
}


def bench(names: Iterable[str] = (), *, write: Callable[[str], object] = print) -> bool:
    """Run the named benchmarks, all by default, and write a Markdown table; return whether every bar was met."""
    chosen = list(names) or list(CASES)
    for name in chosen:
        if name not in CASES:
            raise InvalidArgumentError(f"a benchmark must be one of {', '.join(CASES)}, not {name!r}")
    cores = numba.get_num_threads()
    write(f"1 product = {1e3 * product_time():.0f} ms (float32, 2048 x 2048, NumPy), {cores} threads, {_machine()}\n")
    for cells in (HEADINGS, ("---",) * len(HEADINGS)):
        write(_row(cells))
    met = True
    for name in chosen:
        for line in CASES[name]():
            write(_row(line.cells()))
            met = met and line.met
    return met


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _machine() -> str:
    return f"Python {platform.python_version()}, Numba {numba.__version__}, {platform.machine()}"
