"""What the README shows runs, and what it points to exists."""

import re
from pathlib import Path

import pytest

import efex

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
FIRST, OWN = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_ten_lines_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(FIRST.replace("10_000", "400"), {})
    assert "precision" in capsys.readouterr().out
    assert {"map.graphml", "map.png", "runs"} <= {path.name for path in tmp_path.iterdir()}


def test_the_environment_of_ones_own_is_recovered_exactly():
    names = {"efex": efex, "__name__": "__main__"}
    exec(OWN, names)
    run = names["run"]
    assert run.graph.merge_equivalent().n_nodes == 8
    assert run.decode([0, 0, 1, 0], [1, 1, 1]).min() >= 0


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)(.*?)\)", TEXT))
def test_links_lead_somewhere(target):
    assert (README.parent / target.partition("#")[0]).exists()
