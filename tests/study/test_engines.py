"""Clusters of two worker processes, real ones; one of them is killed while it works."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small import everything, run, small_case, small_study, write_agents

from efex.errors import EfexError, InvalidArgumentError

ENGINES = ["dask", "ray"]


@pytest.fixture(scope="module")
def dask_address():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def ray_address():
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    yield cluster.address
    cluster.shutdown()


@pytest.fixture
def address(request, engine):
    return request.getfixturevalue(f"{engine}_address")


@pytest.fixture
def agents(tmp_path):
    return write_agents(tmp_path)


@pytest.fixture(autouse=True)
def no_waiting_for_ever():
    """A test whose engine hangs fails."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("the engine hangs"))
    signal.alarm(100)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cluster_finds_what_this_machine_finds_though_stopped_and_a_worker_killed(engine, address, tmp_path, agents):
    slow = [small_case(seed, agents("Slow")) for seed in range(8)]
    study = small_study(*slow, small_case(0, marks=(30,)), small_case(0, agents("Leaving")))
    here, there = tmp_path / "here.sqlite", tmp_path / "there.sqlite"
    stopped, killed = [], []

    def stop(played):
        stopped.append(played.case)
        raise KeyboardInterrupt

    def kill(played):
        at_work = [int(path.stem) for path in tmp_path.glob("*.pid")]
        if at_work and not killed:
            killed.append(at_work[0])
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(KeyboardInterrupt):
        run(study, there, engine=engine, address=address, told=stop)
    assert len(stopped) == 1
    for path in tmp_path.glob("*.pid"):
        path.unlink()
    assert run(study, there, engine=engine, address=address, told=kill) == [study.cases[-1]]
    players = {int(path.stem) for path in tmp_path.glob("*.pid")}
    assert killed
    assert len(players) >= 2, "one worker alone did it all"
    assert os.getpid() not in players
    run(study, here, jobs=1)
    assert everything(there, study) == everything(here, study)
    assert len(everything(there, study)) == 9


@pytest.mark.parametrize("engine", ENGINES)
def test_what_the_engine_gives_up_is_submitted_again(engine, address, tmp_path, agents):
    deaths = 4  # both engines try three times more by themselves
    study = small_study(small_case(0, agents("Deadly"), times=deaths), *(small_case(seed) for seed in range(4)))
    assert run(study, tmp_path / "kept.sqlite", engine=engine, address=address) == []
    assert len(list(tmp_path.glob("*.killed"))) == deaths
    assert len(everything(tmp_path / "kept.sqlite", study)) == 5


COLLECTING = """
import gc, sys, threading, time
from pathlib import Path
from small import run, small_case, small_study, write_agents

def collect():
    while True:
        gc.collect()
        time.sleep(0.002)

def stop(played):
    raise KeyboardInterrupt

threading.Thread(target=collect, daemon=True).start()
folder, address = Path(sys.argv[1]), sys.argv[2]
study = small_study(*(small_case(seed, write_agents(folder)("Slow")) for seed in range(8)))
for times in range(3):
    try:
        run(study, folder / f"{times}.sqlite", engine="ray", address=address, told=stop)
    except KeyboardInterrupt:
        print("stopped")
"""


def test_another_thread_collects_garbage_while_a_study_on_ray_is_stopped(ray_address, tmp_path):
    """Ray ends a process without a word where a task is let go of as the connection closes."""
    here = Path(__file__).parent
    command = [sys.executable, "-c", COLLECTING, str(tmp_path), ray_address]
    told = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout.split()) == (0, ["stopped"] * 3), told.stderr


@pytest.mark.parametrize(("engine", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_an_extra_that_is_missing_is_named(engine, module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"efex.study.{engine}_engine", raising=False)
    with pytest.raises(EfexError, match=rf"pip install efex\[{engine}\]"):
        run(small_study(small_case(0)), tmp_path / "kept.sqlite", engine=engine)


def test_an_engine_there_is_not_is_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match="local, dask, ray"):
        run(small_study(), tmp_path / "kept.sqlite", engine="slurm")
