"""The comparison with peers counts what it says it counts."""

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import efex
from efex.graph import LatentGraph

path = Path(__file__).parents[2] / "benchmarks" / "peers.py"
spec = importlib.util.spec_from_file_location("peers", path)
peers = importlib.util.module_from_spec(spec)
sys.modules["peers"] = peers
spec.loader.exec_module(peers)


@pytest.fixture(scope="module")
def cave():
    return peers.SYSTEMS["cave-different"]()


@pytest.mark.parametrize("method", ["L*", "KV", "L#", "hW"])
def test_a_peer_is_right_before_it_stops(method, cave):
    result = peers.run_peer(method, cave, seed=0, cutoff=20_000)
    assert 120 <= result["right"] < result["stops"]
    assert (result["resets"] == 1) == (method == "hW")


def test_efex_is_right_when_its_map_is_the_truth(cave):
    result = peers.run_efex("efex", cave, seed=0, cutoff=1_000, look=100)
    assert 120 <= result["right"] <= 1_000
    assert result["resets"] == 1


def test_who_never_begins_anew_need_not_know_where_it_began(cave):
    elsewhere = replace(cave, starts=((cave.starts[0] + 1) % cave.n_nodes,))
    assert not elsewhere.equivalent_to(cave)
    assert peers.bare(elsewhere, False).equivalent_to(peers.bare(cave, False))
    assert not peers.bare(elsewhere, True).equivalent_to(peers.bare(cave, True))


def test_no_learner_goes_beyond_the_cut_off(cave):
    assert peers.run_peer("L*", cave, seed=0, cutoff=100) == {"right": None, "resets": None, "stops": None}
    assert peers.run_efex("efex-100", cave, seed=0, cutoff=100, look=50)["right"] is None


def result(*, right, method="m", **known):
    return {"system": "s", "method": method, "cutoff": 9, "right": right, "resets": right, "stops": None, **known}


def test_what_never_happened_counts_as_latest():
    rows = [result(seed=seed, right=right) for seed, right in enumerate((None, 3, 5))]
    assert peers.report(rows).splitlines()[-1] == "| s | m | 2 of 3 | 5 (3 to never) | 5 (3 to never) | never | 9 |"


def test_versions_of_efex_are_told_apart_and_the_latest_result_of_one_counts():
    made = {"method": "efex", "seed": 0, "look": 100}
    rows = [result(right=5, **made), *(result(right=right, version="abc", **made) for right in (6, 7))]
    known, unknown = peers.report(rows).splitlines()[2:]
    assert known.startswith("| s | efex abc, looked at every 100 steps | 1 of 1 | 7 | ")
    assert unknown.startswith("| s | efex of unknown version, looked at every 100 steps | 1 of 1 | 5 | ")


def test_results_are_kept_and_not_run_again(tmp_path, monkeypatch, capsys):
    file = tmp_path / "peers.jsonl"
    monkeypatch.setattr(sys, "argv", ["peers.py", "--methods", "L*", "--seeds", "0", "--file", str(file)])
    peers.main()
    first = file.read_text()
    assert "taken from" not in capsys.readouterr().out
    peers.main()
    assert file.read_text() == first
    out = capsys.readouterr().out
    assert f"taken from {file}: cave-different, L*, seed 0" in out
    assert "| cave-different | L* | 1 of 1 | 260 |" in out


def test_results_of_another_efex_or_another_look_are_not_taken(tmp_path, monkeypatch):
    file, played = tmp_path / "peers.jsonl", []
    monkeypatch.setattr(
        peers, "run_efex", lambda *_, **asked: played.append(asked) or {"right": 1, "resets": 1, "stops": 1}
    )
    asked = ["peers.py", "--methods", "efex", "efex-100", "--seeds", "0", "--file", str(file)]
    for commit, look, runs in (
        ("a", "100", 2),
        ("a", "100", 0),
        ("b", "100", 2),
        ("b", "50", 2),
        ("b+dirty", "50", 2),
        ("b+dirty", "50", 2),  # what was changed may be something else by now
        ("a", "100", 0),
    ):
        monkeypatch.setattr(peers, "version", lambda commit=commit: commit)
        monkeypatch.setattr(sys, "argv", [*asked, "--look", look])
        before = len(played)
        peers.main()
        assert len(played) - before == runs, (commit, look)


def test_the_version_is_a_commit_or_else_that_of_the_package(tmp_path, monkeypatch):
    def git(*words):
        name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *name, *words], check=True, capture_output=True)

    assert peers.version(tmp_path) == efex.__version__
    module = tmp_path / "src" / "efex.py"
    module.parent.mkdir()
    module.write_text("a = 1")
    monkeypatch.setattr(efex, "__file__", str(module))
    assert peers.version(tmp_path) == efex.__version__
    git("init")
    git("add", ".")
    git("commit", "--message", "begin")
    clean = peers.version(tmp_path)
    assert len(clean) >= 7
    assert set(clean) <= set("0123456789abcdef")
    module.write_text("a = 2")
    assert peers.version(tmp_path) == f"{clean}+dirty"
    monkeypatch.setenv("PATH", "")
    assert peers.version(tmp_path) == efex.__version__


def test_a_system_is_read_from_the_file_of_a_decision_process(tmp_path):
    file = tmp_path / "coin.dot"
    file.write_text(
        'digraph g {\n__start0 [label="" shape="none"];\n'
        'a [shape="circle" label=heads];\nb [shape="circle" label=tails];\n'
        'a -> a [label="toss:0.5"];\na -> b [label="toss:0.5"];\nb -> b [label="toss:1.0"];\n'
        'a -> b [label="turn:1.0"];\nb -> a [label="turn:1.0"];\n__start0 -> a;\n}\n'
    )
    truth = peers.system_of(str(file))
    coin = LatentGraph.from_matrices([0, 1], [[[0.5, 0.5], [0, 1]], [[0, 1], [1, 0]]], starts=[0])
    assert truth.equivalent_to(coin)
