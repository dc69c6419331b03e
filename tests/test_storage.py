"""Run folders: what was found is kept, whatever else goes wrong."""

import pytest

import efex
from efex.adapters import from_functions
from efex.errors import StorageError

BROKEN = "caf\udce9"
"""Text that was read with errors="surrogateescape", and that no file in UTF-8 can hold."""


def ring(door="door", wall="wall"):
    place = [0]

    def step(way):
        place[0] = (place[0] + {"back": -1, BROKEN: 1}[way]) % 4
        return door if place[0] == 0 else wall

    return from_functions(None, step, ["back", BROKEN])


@pytest.mark.parametrize("length", [1, 40])
def test_text_that_is_not_quite_text_is_saved_drawn_and_goes_on(tmp_path, length):
    options = {"seed": 1, "progress": False, "folder": tmp_path}
    run = efex.explore(ring(BROKEN * length), steps=60, **options)
    assert (tmp_path / "map.png").exists()
    assert efex.load(tmp_path).graph.equivalent_to(run.graph)
    longer = efex.explore(ring(BROKEN * length), steps=120, resume=True, **options)
    assert longer.graph.merge_equivalent().n_nodes == 4


def test_a_picture_that_cannot_be_drawn_takes_nothing_else_with_it(tmp_path, monkeypatch, command):
    def fail(self, path, *, numbers=False):
        raise ValueError("no such font")

    monkeypatch.setattr(efex.run.Run, "plot", fail)
    with pytest.warns(UserWarning, match=r"map\.png could not be drawn: .*no such font.*; all else .* is saved"):
        run = efex.explore(ring(), steps=60, progress=False, folder=tmp_path)
    assert efex.load(tmp_path).graph.equivalent_to(run.graph)
    with pytest.warns(UserWarning, match="could not be drawn"):
        done = command("explore", "chain", "--steps", "40", "--out", tmp_path)
    assert done.returncode == 0
    assert "is drawn in" not in done.stdout


def test_a_folder_without_a_run_is_told_what_to_give(tmp_path):
    with pytest.raises(StorageError, match=r"there is no run in .* no experience\.safetensors; give the folder"):
        efex.load(tmp_path)


@pytest.mark.parametrize("name", ["experience.safetensors", "model.safetensors", "truth.json"])
def test_a_damaged_run_is_told_what_to_do(tmp_path, name):
    options = {"steps": 40, "progress": False}
    run = efex.explore(efex.make("chain", length=5), folder=tmp_path, **options)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[:40])
    with pytest.raises(StorageError, match=r"; what its checkpoint holds goes on with efex\.explore.* a larger number"):
        efex.load(tmp_path)
    longer = efex.explore(efex.make("chain", length=5), folder=tmp_path, resume=True, **options | {"steps": 60})
    assert longer.experience.observations[:40].tolist() == run.experience.observations[:40].tolist()
    run.save(tmp_path)
    (tmp_path / name).write_bytes(whole[:40])
    with pytest.raises(StorageError, match=r"; put back a copy of .*, or make the run again$"):
        efex.load(tmp_path)
