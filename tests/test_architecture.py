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


@cache
def imported(path: Path) -> frozenset[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def files(part: str) -> list[Path]:
    path = SOURCE / part
    found = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert found, f"{part} holds no code: the rule would guard nothing"
    return found


def reaches(path: Path) -> set[str]:
    """All efex modules that importing this file brings along, the package itself aside."""
    seen: set[str] = set()
    todo = [path]
    while todo:
        for name in imported(todo.pop()):
            if name.startswith("efex.") and name not in seen:
                seen.add(name)
                stem = SOURCE.parent / Path(*name.split("."))
                todo += [p for p in (stem.with_suffix(".py"), stem / "__init__.py") if p.is_file()]
    return seen


@pytest.mark.parametrize("part", AGENT_SIDE)
def test_nothing_the_agent_uses_can_reach_the_truth(part):
    for path in files(part):
        seen = {name for name in reaches(path) if name.startswith(TRUTHS)}
        assert not seen, f"{path.relative_to(SOURCE)} reaches {sorted(seen)}"


def test_kernels_import_no_efex_types():
    for path in files("kernels"):
        assert not {name for name in imported(path) if name.startswith("efex.") and "kernels" not in name}


def test_worlds_do_not_know_who_explores_them():
    for path in files("worlds"):
        assert not {n for n in imported(path) if n.startswith(("efex.agents", "efex.measures", "efex.explore"))}


def test_the_rule_would_catch_a_peeking_agent(tmp_path):
    peeking = tmp_path / "peeking.py"
    peeking.write_text("def look():\n    from efex.worlds import make\n    return make\n")
    assert any(name.startswith(TRUTHS) for name in reaches(peeking))


@pytest.mark.parametrize("name", efex.__all__)
def test_every_public_name_is_documented(name):
    assert inspect.getdoc(getattr(efex, name)), f"efex.{name} has no documentation"


def test_files_stay_short_enough_to_hold_one_concept():
    for path in SOURCE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 400, f"{path.relative_to(SOURCE)} has grown too long"
