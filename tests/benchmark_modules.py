"""The scripts in benchmarks/ as modules, so that tests can call what they measure with."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def benchmark(name: str) -> ModuleType:
    """Return a script of benchmarks/, which may import the others there."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCHMARKS))
