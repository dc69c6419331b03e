"""The examples run to their end, and assert what they draw; short here, at full length by make verify."""

import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
# A study is run by efex study run, and tested there.
EXAMPLES = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "my_study.py")
DRAWN = {
    "colossal_cave.py": {"cave_all_different.png", "cave_all_alike.md"},
    "logged_walk.py": {"walk.csv", "map.png"},
    "mail_server.py": {"mail_server.png", "mail_server.dot"},
    "minigrid_room.py": {"room.md", "room.png"},
}


def run_example(name, *arguments, timeout=600):
    command = [sys.executable, "-W", "error", str(FOLDER / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_short(name, tmp_path):
    done = run_example(name, "--short", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == DRAWN[name]


@pytest.mark.verify
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_at_full_length(name, tmp_path):
    done = run_example(name, "--out", str(tmp_path), timeout=3_600)
    print(done.stdout)
    assert done.returncode == 0, done.stderr


EXTRAS = {"colossal_cave.py": "adventure", "mail_server.py": "aiosmtpd", "minigrid_room.py": "minigrid"}
"""What the examples need that efex does not."""


@pytest.mark.parametrize(("name", "extra"), EXTRAS.items())
def test_an_example_without_its_extra_says_what_to_install(name, extra, monkeypatch, tmp_path):
    for loaded in [module for module in sys.modules if module.partition(".")[0] in ("systems", extra)]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, extra, None)  # as if it were not installed
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setattr(sys, "argv", [name, "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit, match=rf'{extra}.*; this example needs pip install "efex\[examples\]"$'):
        runpy.run_path(str(FOLDER / name), run_name="__main__")
    assert not (tmp_path / "out").exists()


def test_every_extra_of_the_examples_is_declared():
    with (FOLDER.parent / "pyproject.toml").open("rb") as file:
        declared = tomllib.load(file)["project"]["optional-dependencies"]["examples"]
    assert {entry.partition(">")[0] for entry in declared} == set(EXTRAS.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short_enough_to_read(name):
    assert len((FOLDER / name).read_text(encoding="utf-8").splitlines()) < 80


def test_the_benchmark_of_the_systems_prints_a_row_per_run():
    given = ["--systems", "mail", "--seeds", "0", "--steps", "50", "--walks", "1"]
    done = run_example(FOLDER.parent / "benchmarks" / "systems.py", *given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].startswith("| mail | 0 | 50 | 9 | ")
