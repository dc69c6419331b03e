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
        (["explore", "no_such_module:Env"], "MODULE:CLASS"),
        (["explore", "grid2d", "--set", "size"], "NAME=VALUE"),
        (["explore", "grid2d", "--set", "colour=red"], "colour"),
        (["explore", "grid2d", "--clones", "some"], "--clones"),
        (["explore", "grid2d", "--unique-fraction", "7"], "--unique-fraction must be"),
        (["explore", "grid2d", "--agent", "efex-paper"], "needs --clones, a number; the paper"),
        (["explore", "grid2d", "--out", "/dev/null/run"], "cannot be written"),
        (["explore", "sparse-maze", "--set", "size=12"], "size"),
        (["explore", "grid2d", "--set", "seed=3"], "--seed"),
        (["explore", "grid2d", "--steps", "ten"], "efex: --steps must be a whole number, not 'ten'\n"),
        (["explore", "grid2d", "--steps=ten"], "efex: --steps must be a whole number, not 'ten'\n"),
        (["explore", "grid2d", "--slip", "much"], "efex: --slip must be a number, not 'much'\n"),
        (["learn", "walk.csv", "--held-out"], "--held-out"),
        (["explore", "grid2d", "--steps", "-5"], "--steps must be"),
        (["explore", "gymnasium:Env", "--set", "colour=1"], "could not be made with --set colour=1"),
        (["explore", "FrozenLake-v1", "--set", "colour=1"], "could not be made with --set colour=1"),
        (["explore", "nowhere"], "id such as FrozenLake-v1, or MODULE:CLASS or FILE.py:CLASS, not 'nowhere'"),
        (["explore", "grid2d", "--until", "finished"], "--until must be \"complete\", not 'finished'"),
        (["explore", "grid2d", "--until", "complete", "--agent", "random"], "--until complete needs an agent"),
        (["explore", "grid2d", "--episode-steps", "0"], "--episode-steps must be a whole number"),
        (["explore", "math:pi"], "MODULE:CLASS"),
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


OWN = """
class Old(Corridor):
    def reset(self):
        return super().reset()

class Failing(Corridor):
    def step(self, action):
        seen, *rest = super().step(action)
        return (float("nan") if self.cell == 3 else seen, *rest)

class Fussy(Corridor):
    def __init__(self, length, *, broken=False):
        super().__init__(length)
        if broken:
            raise RuntimeError("no such display")

class Plain:
    pass

def plain():
    return Plain()

made = Corridor()
number = 3
"""


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ("own.py:Fussy", "could not be made without --set NAME=VALUE: "),
        ("own.py:Fussy", "missing 1 required positional argument: 'length'\n"),
        ("own.py:Fussy --set width=3", "could not be made with --set width=3: "),
        ("own.py:Fussy --set length=3 --set broken=true", "RuntimeError: no such display; --debug shows where\n"),
        ("own.py:Plain", "MODULE:CLASS of a gymnasium.Env, or a function that makes one, not the class Plain; "),
        ("own.py:plain", "makes one, not Plain; efex.adapters.from_functions makes one of anything\n"),
        ("own.py:number", "or a function that makes one, not int; "),
        (
            "own.py:Corrider",
            "is in own.py, which defines Corridor, Old, Failing, Fussy, not 'Corrider'\n",
        ),
        ("own.py:made --set length=3", "--set must not be given for 'own.py:made', which is made already"),
        ("empty.py:Corridor", "must name what is in empty.py, which defines no gymnasium.Env, not 'Corridor'\n"),
        ("missing.py:Corridor", "FILE.py:CLASS that can be imported: there is no file missing.py\n"),
        ("missing_module:Corridor", "MODULE:CLASS or FILE.py:CLASS that can be imported: No module named 'missing_"),
        ("wrong.py:Corridor", "that can be imported: wrong.py, line 1: SyntaxError: "),
        ("failing.py:Corridor", "that can be imported: failing.py, line 1: ZeroDivisionError: division by zero\n"),
        ("./failing:Corridor", "that can be imported: "),
    ],
)
def test_an_environment_of_ones_own_that_cannot_be_made_is_one_line(environment, says, tmp_path, command, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name, text in {"own": CORRIDOR + OWN, "empty": "", "wrong": "def a(:", "failing": "1 / 0"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    done = command("explore", *environment.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ("own.py:Old", "efex: reset() of Old must accept the keywords seed and options, as Gymnasium's does, and "),
        ("own.py:Failing", "; what was found so far is saved in runs/latest; --resume goes on from there\n"),
    ],
)
def test_an_environment_of_ones_own_that_fails_is_one_line(environment, says, tmp_path, command, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own.py").write_text(CORRIDOR + OWN)
    done = command("explore", environment, "--steps", 50, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_environment_in_a_file_finds_what_lies_beside_it(tmp_path, command, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "base_of_mine.py").write_text(CORRIDOR)
    (tmp_path / "beside" / "mine.py").write_text("from base_of_mine import Corridor")
    done = command("explore", "beside/mine.py:Corridor", "--set", "length=4", "--steps", "60", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert efex.load(tmp_path / "runs/latest").graph.n_nodes == 4


def test_episodes_are_cut_where_the_option_says(tmp_path, command, monkeypatch):
    (tmp_path / "cut_corridor.py").write_text(CORRIDOR)
    monkeypatch.syspath_prepend(tmp_path)
    for environment, steps in (("cut_corridor:Corridor", 7), ("grid2d", 7), ("grid2d", 110)):
        asked = ["explore", environment, "--steps", 220, "--clones", 1, "--episode-steps", steps, "--no-measure"]
        done = command(*asked, "--out", tmp_path / "run")
        assert done.returncode == 0, done.stderr
        assert efex.load(tmp_path / "run").experience.offsets[1] == steps + 1


def test_resuming_another_run_speaks_of_options(tmp_path, command):
    command(*EXPLORE, "--no-measure", "--out", tmp_path)
    done = command(*EXPLORE, "--out", tmp_path, "--resume", "--episode-steps", 9)
    assert done.returncode == 2
    assert done.stderr.startswith("efex: --resume must go on as the run in")
    assert "its --episode-steps was None, not 9; give that, another --out, or no --resume" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--held-out 0.1 leaves nothing to learn from or nothing to test on (steps: 1, episodes: 1); "),
        ([], "use --held-out 0\n"),
        (["--held-out", "2"], "--held-out must be a share"),
        (["--method", "foo"], "--method must be one of"),
        (["--clones", "0"], "--clones must be"),
    ],
)
def test_a_bad_wish_to_learn_is_one_line_before_anything_is_learned(arguments, says, tmp_path, command):
    (tmp_path / "walk.csv").write_text("action,observation\n0,a\n0,b\n")
    done = command("learn", "walk.csv", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_help_gives_defaults_and_says_which_columns_are_needed(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    explore, learn = (command(name, "--help").stdout for name in ("explore", "learn"))
    for option, default in (("--unique-fraction", "1"), ("--slip", "0"), ("--until", "all --steps")):
        assert any(option in line and f"[default: ({default})]" in line for line in explore.splitlines()), option
    assert "needs the column observation" in " ".join(learn.split())


def test_debug_shows_the_traceback(tmp_path):
    for arguments in (["--debug", "explore", "spare-maze"], ["explore", "spare-maze", "--debug"]):
        done = efex_command(*arguments, cwd=tmp_path)
        assert done.returncode != 0
        assert "Traceback" in done.stderr


def test_no_arguments_show_the_help():
    done = efex_command()
    assert done.returncode == 0
    assert "explore" in done.stdout
