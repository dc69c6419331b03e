import os
import signal
import subprocess
import time

import pytest
from small import COMMAND, everything, run, small_case, small_study, study_command, write_agents
from typer.testing import CliRunner

from efex.cli import app
from efex.errors import EfexError
from efex.study import Case, runner
from efex.study.runner import PATIENCE, pending
from efex.study.store import Store
from efex.study.study import load_study

STUDY = """
from pathlib import Path
from efex.study import Case, Study

AGENT = str(Path(__file__).parent / "agents.py") + ":{agent}"
agents = (AGENT, "random") if {mixed} else (AGENT,)
cases = tuple(Case("grid2d", a, 60, seed, options=(("size", 4),)) for a in agents for seed in range({seeds}))
study = Study("mine", "Mine", cases, lambda results, folder: results.share)
"""


def write_study(folder, **words):
    write_agents(folder)
    (folder / "mine.py").write_text(STUDY.format(**words))
    return folder / "mine.py"


def outcomes(path):
    if not path.exists():
        return {}
    with Store(path) as store:
        return dict(store.outcomes())


@pytest.fixture
def agents(tmp_path):
    return write_agents(tmp_path)


def test_a_run_stopped_half_way_goes_on_and_ends_alike(tmp_path):
    study = small_study(small_case(0, marks=(30,)), *(small_case(seed) for seed in range(1, 5)))
    assert run(study, tmp_path / "whole.sqlite", jobs=1) == []
    seen = []

    def stop_after_two(played):
        seen.append(played.case)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path / "stopped.sqlite", jobs=1, told=stop_after_two)
    with Store(tmp_path / "stopped.sqlite") as store:
        assert len(pending(study, store)) == 3
    run(study, tmp_path / "stopped.sqlite", jobs=1, told=lambda played: seen.append(played.case))
    assert len(seen) == len(set(seen)) == 5, "a finished case was played again"
    assert everything(tmp_path / "stopped.sqlite", study) == everything(tmp_path / "whole.sqlite", study)
    assert len(everything(tmp_path / "whole.sqlite", study)) == 5


def test_stopping_processes_at_work_is_quiet_and_loses_nothing_finished(tmp_path, agents):
    study = small_study(*(small_case(seed, agents("Slow")) for seed in range(6)))

    def stop(played):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path / "stopped.sqlite", jobs=2, told=stop)
    assert len(outcomes(tmp_path / "stopped.sqlite")) == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_that_a_kernel_turned_into_an_error_stops_the_study(jobs, tmp_path, agents):
    study = small_study(*(small_case(seed, agents("Interrupted")) for seed in range(4)))
    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path / "stopped.sqlite", jobs=jobs)
    assert outcomes(tmp_path / "stopped.sqlite") == {}


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_the_command_and_fails_no_case(jobs, tmp_path):
    file, kept = write_study(tmp_path, agent="Slow", mixed=False, seeds=40), tmp_path / "kept.sqlite"
    command = [*COMMAND, "run", str(file), "--jobs", str(jobs), "--store", str(kept)]
    piped = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen(command, start_new_session=True, **piped)
    while not outcomes(kept):
        assert running.poll() is None, "it ended before it could be stopped"
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert f"stopped; every finished case is in {kept}\n" in said  # a process between two cases says more
    assert set(outcomes(kept).values()) == {"done"}


def test_a_command_killed_in_the_middle_goes_on_and_ends_alike(tmp_path):
    file, kept = write_study(tmp_path, agent="Slow", mixed=False, seeds=8), tmp_path / "kept.sqlite"
    command = [*COMMAND, "run", str(file), "--jobs", "2", "--store", str(kept)]
    running = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while len(outcomes(kept)) < 2:
            assert running.poll() is None, "it ended before it could be killed"
            time.sleep(0.02)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    study, before = load_study(str(file)), everything(kept, load_study(str(file)))
    assert 2 <= len(before) < 8
    done = study_command("run", file, "--jobs", 2, "--store", kept)
    assert done.returncode == 0, done.stderr
    assert f"{len(before)} already done" in done.stdout
    run(study, tmp_path / "whole.sqlite", jobs=1)
    assert everything(kept, study) == everything(tmp_path / "whole.sqlite", study)
    assert len(everything(kept, study)) == 8


def test_a_case_that_fails_is_told_and_the_others_go_on(tmp_path):
    file, kept = write_study(tmp_path, agent="Failing", mixed=True, seeds=2), tmp_path / "kept.sqlite"
    (tmp_path / "fail").touch()
    done = study_command("run", file, "--jobs", 1, "--store", kept)
    assert done.returncode == 1
    assert "2 cases failed" in done.stderr
    assert "RuntimeError: no idea where to go" in done.stderr
    assert done.stdout.count("failed: grid2d") == 2
    assert done.stdout.count("no idea where to go") == 1, "the same reason is said once as it happens"
    study = load_study(str(file))
    with Store(kept) as store:
        traces = [trace for _, trace in store.failures(study.cases)]
    assert len(traces) == 2
    assert all("in choose" in trace and "no idea where to go" in trace for trace in traces)
    assert len(everything(kept, study)) == 2

    (tmp_path / "fail").unlink()
    played = []
    assert run(study, kept, jobs=1, told=played.append) == []
    assert [each.case.agent.rpartition(":")[2] for each in played] == ["Failing", "Failing"]
    assert set(outcomes(kept).values()) == {"done"}


def test_an_agent_that_cannot_be_made_is_a_failing_case(tmp_path):
    study = small_study(small_case(0, "nowhere.py:Agent"), small_case(0, "efex", colour="red"))
    assert len(run(study, tmp_path / "kept.sqlite", jobs=1)) == 2
    with Store(tmp_path / "kept.sqlite") as store:
        first, second = (trace for _, trace in store.failures(study.cases))
    assert "no file" in first
    assert "colour" in second


def test_an_agent_cannot_end_the_study(tmp_path, agents):
    study = small_study(small_case(0, agents("Leaving")), small_case(1))
    assert run(study, tmp_path / "kept.sqlite", jobs=1) == [study.cases[0]]
    assert sorted(outcomes(tmp_path / "kept.sqlite").values()) == ["done", "failed"]


def test_what_a_killed_worker_had_is_played_again(tmp_path, agents):
    study = small_study(*(small_case(seed, agents("Deadly")) for seed in range(6)))
    assert run(study, tmp_path / "kept.sqlite", jobs=2) == []
    assert list(tmp_path.glob("*.killed"))
    assert len(everything(tmp_path / "kept.sqlite", study)) == 6


def test_a_case_that_always_kills_its_worker_does_not_keep_the_others(tmp_path, agents, monkeypatch):
    monkeypatch.setattr(runner, "PATIENCE", 2)
    study = small_study(small_case(0, agents("Deadly"), times=99), *(small_case(seed) for seed in range(20)))
    with pytest.raises(EfexError, match="broke 2 times"):
        run(study, tmp_path / "kept.sqlite", jobs=2)
    assert len(everything(tmp_path / "kept.sqlite", study)) > 10


def test_an_engine_that_breaks_every_time_is_given_up(tmp_path, agents):
    study = small_study(*(small_case(seed, agents("Deadly"), times=99) for seed in range(2)))
    with pytest.raises(EfexError, match=f"broke {PATIENCE} times without finishing a case: TerminatedWorkerError"):
        run(study, tmp_path / "kept.sqlite", jobs=2)
    assert outcomes(tmp_path / "kept.sqlite") == {}


def test_the_number_of_processes_changes_nothing(tmp_path):
    study = small_study(*(small_case(seed, "efex", marks=(60,)) for seed in range(2)))
    for jobs in (1, 2):
        run(study, tmp_path / f"{jobs}.sqlite", jobs=jobs)
    assert everything(tmp_path / "1.sqlite", study) == everything(tmp_path / "2.sqlite", study)


def test_a_short_case_has_a_coverage_curve_that_only_rises(tmp_path):
    study = small_study(small_case(0))
    run(study, tmp_path / "kept.sqlite", jobs=1)
    (result,) = everything(tmp_path / "kept.sqlite", study).values()
    assert result["curve_steps"] == sorted(result["curve_steps"])
    assert result["curve_steps"][0] >= 1
    assert result["curve_coverage"] == sorted(result["curve_coverage"])
    assert result["curve_coverage"][0] < result["curve_coverage"][-1]


def test_a_case_without_marks_is_not_measured_and_one_with_marks_also_at_its_end(tmp_path):
    study = small_study(small_case(0), small_case(1, marks=(20, 40)))
    run(study, tmp_path / "kept.sqlite", jobs=1)
    without, marked = everything(tmp_path / "kept.sqlite", study).values()
    assert without["steps"] == []
    assert marked["steps"] == [20, 40, 60]
    assert len(marked["precision"]) == len(marked["coverage"]) == len(marked["nodes"]) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "chain"], "there is no store"),
        (["export", "chain", "out.gz"], "there is no store"),
        (["run", "chain", "--jobs", "0"], "jobs must be"),
        (["run", "chain", "--only", "chian"], "no case of study 'chain' holds 'chian'; they look like 'chain"),
    ],
)
def test_what_cannot_be_done_is_said_and_leaves_nothing(arguments, said, tmp_path):
    result = CliRunner().invoke(app, ["study", *arguments, "--store", str(tmp_path / "mine.sqlite")])
    assert result.exit_code != 0
    assert said in str(result.exception)


def test_an_unknown_agent_is_refused_before_anything_is_played():
    with pytest.raises(EfexError, match="not 'efexx'; did you mean 'efex'"):
        Case("grid2d", "efexx", 10, 0)
