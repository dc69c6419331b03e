"""Studies small enough to run in a test, and what is compared of them."""

import subprocess
import sys

from efex.study import Case, Study
from efex.study.runner import run_study
from efex.study.store import Store

AGENTS = '''
import os
import signal
import time
from pathlib import Path

from efex.agents import RandomAgent

HERE = Path(__file__).parent


class Slow(RandomAgent):
    """Leaves its process's number behind and takes its time."""

    def started(self):
        (HERE / f"{os.getpid()}.pid").touch()
        time.sleep(0.25)


class Deadly(RandomAgent):
    """Kills its process the first few times that it is played."""

    def __init__(self, *, clones, times=1):
        super().__init__(clones=clones)
        self.times = times

    def started(self):
        if len(list(HERE.glob("*.killed"))) < self.times:
            (HERE / f"{os.getpid()}.killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Failing(RandomAgent):
    """Raises while a file says so."""

    def choose(self, mask):
        if (HERE / "fail").exists():
            raise RuntimeError("no idea where to go")
        return super().choose(mask)


class Interrupted(RandomAgent):
    """Fails as a compiled kernel does that Ctrl-C reaches."""

    def choose(self, mask):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("CPUDispatcher(...) returned a result with an exception set") from error


class Leaving(RandomAgent):
    """Wants to end the program."""

    def choose(self, mask):
        raise SystemExit(3)
'''


def small_case(seed, agent="random", *, marks=(), **settings):
    """60 steps on a grid of 16 nodes."""
    return Case("grid2d", agent, 60, seed, options=(("size", 4),), settings=tuple(settings.items()), marks=marks)


def small_study(*cases):
    return Study("small", "A small study", cases, lambda results, folder: f"{results.share} were found.\n")


def write_agents(folder):
    """Write the agents above into a file; return a function from a class to the agent of a case."""
    path = folder / "agents.py"
    path.write_text(AGENTS)
    return lambda name: f"{path}:{name}"


def everything(path, study):
    """All that a store holds of a study, but the time it took."""
    with Store(path) as store:
        return {
            case.id: {name: value for name, value in result.items() if name != "seconds"}
            for case, result in store.results(study.cases)
        }


def run(study, path, **options):
    with Store(path) as store:
        return run_study(study, store, version="test", **options)


COMMAND = [sys.executable, "-c", "from efex.cli import main; main()", "study"]


def study_command(*arguments, cwd=None):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=120)
