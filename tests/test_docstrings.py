"""Examples in docstrings run, and every function that a user calls has one."""

import doctest
import importlib
from pathlib import Path

import pytest

import efex
from efex.agreement import agreement
from efex.graph import LatentGraph
from efex.graph.pomdp import to_pomdp
from efex.graph.routes import routes
from efex.held_out import hold_out
from efex.run import Fit

SOURCE = Path(efex.__file__).parent
MODULES = [
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]
CALLED = [
    *(efex.explore, efex.learn, efex.load, efex.transfer, efex.Navigator, efex.Navigator.travel),
    *(efex.adapters.from_functions, efex.adapters.read_table, efex.adapters.write_table),
    *(LatentGraph.plan, LatentGraph.block, LatentGraph.tag, Fit.agreement, agreement, hold_out, routes, to_pomdp),
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("called", CALLED, ids=lambda called: called.__qualname__)
def test_what_a_user_calls_has_an_example(called):
    assert ">>>" in called.__doc__
