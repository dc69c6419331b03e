import json
import subprocess
import sys

import pytest

import efex

EXPLORE = ["explore", "grid2d", "--set", "size=4", "--unique-fraction", "0.5", "--steps", "150", "--clones", "3"]


def efex_command(*arguments, cwd=None):
    command = [sys.executable, "-c", "from efex.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)


def test_explore_writes_a_folder_and_says_where_the_picture_is(tmp_path, command):
    done = command(*EXPLORE, "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "run" / "map.png") in done.stdout
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert 0 < summary["precision"] <= 1
    assert efex.load(tmp_path / "run").experience.n_steps == 150


CORRIDOR = """
import gymnasium

class Corridor(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(6)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, length=6):
        self.length = length

    def reset(self, *, seed=None, options=None):
        self.cell = 0
        return 0, {}

    def step(self, action):
        self.cell = min(max(self.cell + (-1, 1)[action], 0), self.length - 1)
        return self.cell, 0.0, False, False, {}
"""


def test_an_environment_of_ones_own_is_explored(tmp_path):
    (tmp_path / "mine.py").write_text(CORRIDOR)
    done = efex_command("explore", "mine:Corridor", "--set", "length=4", "--steps", "60", "--clones", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert efex.load(tmp_path / "runs/latest").graph.n_nodes == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explore", "spare-maze"], "sparse-maze"),
        (["explore", "no_such_module:Env"], "MODULE:ENV"),
        (["explore", "grid2d", "--set", "size"], "NAME=VALUE"),
        (["explore", "grid2d", "--set", "colour=red"], "colour"),
        (["explore", "grid2d", "--clones", "some"], "--clones"),
        (["explore", "grid2d", "--unique-fraction", "7"], "unique_fraction"),
        (["explore", "grid2d", "--agent", "efex-paper"], "clones"),
        (["explore", "grid2d", "--out", "/dev/null/run"], "cannot be written"),
        (["explore", "sparse-maze", "--set", "size=12"], "size"),
        (["explore", "grid2d", "--set", "seed=3"], "--seed"),
        (["explore", "grid2d", "--steps", "ten"], "--steps"),
        (["explore", "grid2d", "--steps", "-5"], "steps"),
        (["explore", "gymnasium:Env", "--set", "colour=1"], "MODULE:ENV"),
        (["explore", "math:pi"], "MODULE:ENV"),
        (["explore"], "environment"),
        (["explor"], "explor"),
    ],
)
def test_bad_input_is_one_line_and_a_non_zero_exit(arguments, says, tmp_path, command):
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback(tmp_path):
    for arguments in (["--debug", "explore", "spare-maze"], ["explore", "spare-maze", "--debug"]):
        done = efex_command(*arguments, cwd=tmp_path)
        assert done.returncode != 0
        assert "Traceback" in done.stderr


def test_no_arguments_show_the_help():
    done = efex_command()
    assert done.returncode == 0
    assert "explore" in done.stdout
