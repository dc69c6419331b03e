import csv
import dataclasses
from pathlib import Path

import pytest
from small import everything, run, study_command
from typer.testing import CliRunner

from efex.cli import app
from efex.study.report import report_study
from efex.study.store import Store
from efex.study.study import load_study

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_study.py"


@pytest.fixture
def shortened():
    """The example with two small cases, one of them by the agent of its own file."""
    study = load_study(str(EXAMPLE))
    small = {"steps": 120, "marks": (60, 120), "options": (("size", 4), ("unique_fraction", 0.5))}
    cases = [dataclasses.replace(case, **small) for case in study.cases if case.seed == 0 and case.agent != "efex"]
    return dataclasses.replace(study, cases=tuple(cases))


def test_the_example_runs_and_is_reported(shortened, tmp_path):
    assert [case.agent.rpartition(":")[2] for case in shortened.cases] == ["random", "Persistent"]
    assert run(shortened, tmp_path / "kept.sqlite", jobs=1) == []
    with Store(tmp_path / "kept.sqlite") as store:
        text = report_study(shortened, store, tmp_path / "out").read_text()
    assert "Does it pay to persist?" in text
    rows = list(csv.reader((tmp_path / "out" / "my-study.csv").read_text().splitlines()))
    assert [row[0] for row in rows] == ["agent", "random", "Persistent"]
    assert (tmp_path / "out" / "my-study.png").stat().st_size > 5_000


def test_the_ids_of_the_example_are_the_same_in_every_clone(tmp_path, monkeypatch):
    written = []
    for clone in ("here", "there"):
        (tmp_path / clone / "examples").mkdir(parents=True)
        (tmp_path / clone / "examples" / "my_study.py").write_text(EXAMPLE.read_text())
        monkeypatch.chdir(tmp_path / clone)
        written.append([case.id for case in load_study("examples/my_study.py").cases])
    assert written[0] == written[1]
    assert " examples/my_study.py:Persistent clones=2x " in written[0][-1]


def test_a_file_of_ones_own_goes_through_the_commands(tmp_path, monkeypatch):
    text = EXAMPLE.read_text().replace("1_500", "120").replace("(250, 500, 1_000, 120)", "(60,)")
    text = text.replace("range(4)", "range(1)").replace('("efex", "random", ', '("random", ')
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    for chosen in (["--only", ":Persistent", "--only", "seed 0"], []):
        done = study_command("run", "mine.py", "--jobs", 1, "--store", "kept.sqlite", *chosen)
        assert done.returncode == 0, done.stderr
        with Store(tmp_path / "kept.sqlite") as kept:
            played = {case.agent.rpartition(":")[2] for case, _ in kept.results(load_study("mine.py").cases)}
        assert played == {"Persistent", *([] if chosen else ["random"])}
    assert len(everything(tmp_path / "kept.sqlite", load_study("mine.py"))) == 2

    def command(*arguments):
        result = CliRunner().invoke(app, ["study", *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    assert "wrote" in command("report", "mine.py", "--store", "kept.sqlite", "--out", "out")
    assert "2 runs" in (tmp_path / "out" / "my-study.md").read_text()
    assert "2 cases" in command("export", "mine.py", "out.jsonl.gz", "--store", "kept.sqlite")
    assert "took in 2 cases" in command("import", "out.jsonl.gz", "--store", "other.sqlite")
    assert "wrote 2 cases" in command("export", "mine.py", "again.jsonl.gz", "--store", "other.sqlite")
    assert (tmp_path / "out.jsonl.gz").read_bytes() == (tmp_path / "again.jsonl.gz").read_bytes()
    assert "topologies" in command("list", "--store", "kept.sqlite")
    assert "chain" in command("list", "--store", "none/there.sqlite")
    assert not (tmp_path / "none").exists(), "who looks leaves nothing behind"


OWN_WAY = """
from efex.study import Case, Study

def nodes_of(case):
    return {"seconds": 0.0, "nodes": 10 + case.seed}

def report(results, folder):
    return str(sorted(results.final("nodes")))

cases = tuple(Case("chain", "random", 9, seed) for seed in range(3))
study = Study("own-way", "In its own way", cases, report, nodes_of)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_study_may_play_its_cases_in_its_own_way_in_other_processes_too(jobs, tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(OWN_WAY)
    monkeypatch.chdir(tmp_path)
    done = study_command("run", "own.py", "--jobs", jobs, "--store", "kept.sqlite")
    assert done.returncode == 0, done.stderr
    with Store("kept.sqlite") as kept:
        assert sorted(result["nodes"] for _, result in kept.results(load_study("own.py").cases)) == [10, 11, 12]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "nope"], "chain, topologies"),
        (["run", "chian"], "not 'chian'; did you mean 'chain'?"),
        (["run", "broken.py"], "efex: broken.py, line 2: SyntaxError: '(' was never closed"),
        (["run", "misspelt.py"], "efex: misspelt.py, line 2: the agent of a case must be one of efex, "),
        (["run", "chain", "--engine", "slurm"], "local, dask, ray"),
        (["report", "chain", "--store", "torn.sqlite"], "not a store"),
        (["import", "torn.sqlite"], "cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_a_non_zero_exit(arguments, says, tmp_path, command):
    (tmp_path / "torn.sqlite").write_bytes(b"torn" * 500)
    (tmp_path / "broken.py").write_text("from efex.study import Study\nstudy = Study(\n")
    (tmp_path / "misspelt.py").write_text("from efex.study import Case\nCase('grid2d', 'efexx', 9, 0)\n")
    done = command("study", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
