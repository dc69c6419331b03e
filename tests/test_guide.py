"""What the guide shows runs, from the first block to the last."""

import re
from pathlib import Path

import numpy as np

import efex
from efex.graph import LatentGraph

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
    assert names["action"] is None
    assert names["navigator"].belief.argmax() == names["kitchen"]


def test_the_loop_of_the_guide_heeds_a_mask():
    loop = next(block for block in BLOCKS if "go_to(" in block)
    place, taken = [0], []

    def step(action):
        assert action in available()
        taken.append(action)
        place[0] += {"on": 1, "stairs": 2}[action]
        return place[0]

    def available():
        return ["on", "stairs"] if place[0] == 1 else ["on"]

    env = efex.adapters.from_functions(lambda: place[0], step, ["on", "stairs"], mask=available)
    # On the map the stairs can be taken everywhere.
    ways = [np.eye(6)[np.minimum(np.arange(6) + stride, 5)] for stride in (1, 2)]
    graph = LatentGraph.from_matrices(range(6), ways)
    names = {"efex": efex, "env": env, "graph": graph, "kitchen": 5}
    exec(loop, names)
    assert names["action"] is None
    assert taken == ["on", "stairs", "on", "on"]


def test_links_of_the_guide_lead_somewhere():
    targets = re.findall(r"\]\((?!http)(.*?)\)", GUIDE.read_text(encoding="utf-8"))
    assert targets
    assert all((GUIDE.parent / target).exists() for target in targets)
