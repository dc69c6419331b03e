"""A first run says why it is slow to start; later ones do not."""

import pytest

import efex
from efex import kernels
from efex.status import first_wait, status_line

NOTE = "(a first run compiles for half a minute)"


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """An installation whose kernels were never compiled; the folder where compiled ones would be."""
    monkeypatch.setattr(kernels, "__file__", str(tmp_path / "__init__.py"))
    return tmp_path / "__pycache__"


def compile_one(folder):
    folder.mkdir()
    (folder / "cpu.advance-58.py311.nbi").touch()


def test_the_first_wait_is_over_once_kernels_are_compiled(fresh):
    assert first_wait() == NOTE
    compile_one(fresh)
    assert first_wait() == ""


def test_this_installation_has_compiled_its_kernels():
    efex.explore(efex.make("chain", length=3), steps=5, progress=False)
    assert first_wait() == ""


def test_exploring_says_that_it_compiles(fresh, capsys):
    efex.explore(efex.make("chain", length=3), steps=5)
    assert capsys.readouterr().out.startswith(f"exploring {NOTE}\n")
    compile_one(fresh)
    efex.explore(efex.make("chain", length=3), steps=5)
    assert capsys.readouterr().out.startswith("exploring\n")


def test_learning_says_that_it_compiles(fresh, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes a terminal of what is none
    with status_line(enabled=True):
        pass
    assert f"starting {NOTE}" in capsys.readouterr().out
