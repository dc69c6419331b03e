"""Rules that hold the science together: the learner cannot see the truth, and imports point downwards."""

import ast
import inspect
from functools import cache
from pathlib import Path

import pytest

import efex

SOURCE = Path(efex.__file__).parent
TRUTHS = ("efex.worlds", "efex.measures")
AGENT_SIDE = [
    "kernels",
    "model",
    "belief.py",
    "utility.py",
    "planning.py",
    "agents",
    "adapters",
    "navigate.py",
    "navigation",
]


LOADERS = {"importlib", "import_module", "__import__", "modules", "pkgutil", "runpy", "eval", "exec"}
"""How a module is had by other means than an import."""
PARQUET = "_pyarrow"
"""The one function that loads by name: an extra, which may be missing."""


@cache
def imported(path: Path) -> frozenset[str]:
    """What a file names in its imports; all of efex where the package itself comes along."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
            names |= {alias.name.partition(".")[0] for alias in node.names if alias.asname is None}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names |= {*whole} if node.module == "efex" and all(map(places, whole)) else {*whole, node.module}
    return frozenset(names)


@cache
def places(name: str) -> tuple[Path, ...]:
    """The file of a module of efex, none where the name is another thing."""
    stem = SOURCE.parent / Path(*name.split("."))
    return tuple(path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file())


@cache
def loads_by_name(path: Path) -> frozenset[str]:
    """The words by which a file has modules that its imports do not tell of."""
    words, todo = set(), [ast.parse(path.read_text())]
    while todo:
        node = todo.pop()
        if not (isinstance(node, ast.FunctionDef) and node.name == PARQUET):
            for field in ("id", "attr", "module", "name"):
                words |= {*(getattr(node, field, None) or "").split(".")}
            todo += ast.iter_child_nodes(node)
    return frozenset(words & LOADERS)


def files(part: str) -> list[Path]:
    path = SOURCE / part
    found = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert found, f"{part} holds no code: the rule would guard nothing"
    return found


def reaches(path: Path) -> set[str]:
    """All of efex that this file names, and that what it names goes on to name."""
    seen: set[str] = set()
    todo = [path]
    while todo:
        for name in imported(todo.pop()):
            if name.partition(".")[0] == "efex" and name not in seen:
                seen.add(name)
                todo += places(name)
    return seen


def peeks(path: Path) -> set[str]:
    """What a file reaches that holds the truth: efex as a whole, worlds and measures."""
    return {name for name in reaches(path) if name == "efex" or name.startswith(TRUTHS)}


@pytest.mark.parametrize("part", AGENT_SIDE)
def test_nothing_the_agent_uses_can_reach_the_truth(part):
    for path in files(part):
        assert not peeks(path), f"{path.relative_to(SOURCE)} reaches {sorted(peeks(path))}"


@pytest.mark.parametrize("part", AGENT_SIDE)
def test_nothing_the_agent_uses_loads_what_its_imports_do_not_tell_of(part):
    for path in files(part):
        for reached in (path, *(file for name in reaches(path) for file in places(name))):
            used = loads_by_name(reached)
            assert not used, f"{reached.relative_to(SOURCE)} uses {sorted(used)}"


def test_the_one_function_that_loads_by_name_loads_parquet_alone():
    calls = [
        node
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == PARQUET
    ]
    assert {call.args[0].value for call in calls} == {"pyarrow", "pyarrow.parquet"}


def test_kernels_import_no_efex_types():
    for path in files("kernels"):
        assert not {name for name in imported(path) if name.startswith("efex") and "kernels" not in name}


def test_worlds_do_not_know_who_explores_them():
    above = ("efex.agents", "efex.measures", "efex.explore")
    for path in files("worlds"):
        assert not {name for name in imported(path) if name == "efex" or name.startswith(above)}


@pytest.mark.parametrize(
    "line",
    [
        "from efex.worlds import make",
        "from efex import worlds",
        "from efex import make",
        "from efex import checks, make",
        "from efex import *",
        "import efex",
        "import efex as world",
        "import efex.checks",
        "import efex.measures as told",
        "from efex.study import moments",
    ],
)
def test_the_rule_would_catch_a_peeking_agent(line, tmp_path):
    peeking = tmp_path / "peeking.py"
    peeking.write_text(f"if True:\n    {line}\n")
    assert peeks(peeking)


@pytest.mark.parametrize("line", ["from efex import checks", "import efex.checks as checks", "from efex import agents"])
def test_the_rule_lets_an_agent_have_what_is_below_it(line, tmp_path):
    honest = tmp_path / "honest.py"
    honest.write_text(f"{line}\n")
    assert reaches(honest)
    assert not peeks(honest)


@pytest.mark.parametrize(
    "line",
    [
        "importlib.import_module('efex.worlds')",
        "from importlib import import_module as load",
        "import importlib.util",
        "__import__('efex.worlds')",
        "sys.modules['efex.worlds']",
        "from sys import modules",
        "eval('make')",
    ],
)
def test_the_rule_would_catch_an_agent_that_loads_by_name(line, tmp_path):
    loading = tmp_path / "loading.py"
    loading.write_text(f"def look():\n    {line}\n")
    assert loads_by_name(loading)


@pytest.mark.parametrize("name", efex.__all__)
def test_every_public_name_is_documented(name):
    assert inspect.getdoc(getattr(efex, name)), f"efex.{name} has no documentation"


def test_files_stay_short_enough_to_hold_one_concept():
    for path in SOURCE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 400, f"{path.relative_to(SOURCE)} has grown too long"
