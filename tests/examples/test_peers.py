"""The comparison with peers counts what it says it counts."""

import importlib.util
import sys
from pathlib import Path

import pytest

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


def test_no_learner_goes_beyond_the_cut_off(cave):
    assert peers.run_peer("L*", cave, seed=0, cutoff=100) == {"right": None, "resets": None, "stops": None}
    assert peers.run_efex("efex-100", cave, seed=0, cutoff=100, look=50)["right"] is None


def test_what_never_happened_counts_as_latest():
    rows = [{"system": "s", "method": "m", "cutoff": 9, "right": r, "resets": r, "stops": None} for r in (None, 3, 5)]
    assert peers.report(rows).splitlines()[-1] == "| s | m | 2 of 3 | 5 (3 to never) | 5 (3 to never) | never | 9 |"


def test_results_are_kept_and_not_run_again(tmp_path, monkeypatch, capsys):
    file = tmp_path / "peers.jsonl"
    monkeypatch.setattr(sys, "argv", ["peers.py", "--methods", "L*", "--seeds", "0", "--file", str(file)])
    peers.main()
    first = file.read_text()
    peers.main()
    assert file.read_text() == first
    assert "| cave-different | L* | 1 of 1 | 260 |" in capsys.readouterr().out
