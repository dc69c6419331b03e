"""What the guide shows runs, from the first block to the last."""

import re
from pathlib import Path

import efex

GUIDE = Path(__file__).parents[1] / "docs" / "guide.md"
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world, functions, log, *rest = BLOCKS
    names = {}
    exec(world.replace("10_000", "200"), names)
    assert (tmp_path / "map.png").exists()
    efex.adapters.write_table(names["run"].experience, "walk.csv")
    exec(functions, names)
    exec(log.replace("restarts=3", "restarts=2"), names)
    for block in rest:
        exec(block, names)
    assert names["plan"].expected_steps == 1
    assert names["named"].tags


def test_links_of_the_guide_lead_somewhere():
    targets = re.findall(r"\]\((?!http)(.*?)\)", GUIDE.read_text(encoding="utf-8"))
    assert targets
    assert all((GUIDE.parent / target).exists() for target in targets)
