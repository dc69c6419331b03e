"""The examples run to their end, and assert what they draw; short here, at full length by make verify."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
# A study is run by efex study run, and tested there.
EXAMPLES = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "my_study.py")


def run_example(name, *arguments, timeout=600):
    command = [sys.executable, "-W", "error", str(FOLDER / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_short(name, tmp_path):
    done = run_example(name, "--short", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()), "an example ends in a picture or a table"


@pytest.mark.verify
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_at_full_length(name, tmp_path):
    done = run_example(name, "--out", str(tmp_path), timeout=3_600)
    print(done.stdout)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short_enough_to_read(name):
    assert len((FOLDER / name).read_text(encoding="utf-8").splitlines()) < 80


def test_the_benchmark_of_the_systems_prints_a_row_per_run():
    given = ["--systems", "mail", "--seeds", "0", "--steps", "50", "--walks", "1"]
    done = run_example(FOLDER.parent / "benchmarks" / "systems.py", *given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].startswith("| mail | 0 | 50 | 9 | ")
