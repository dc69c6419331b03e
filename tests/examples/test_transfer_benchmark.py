"""The worlds of the transfer benchmark are what it says, and a known map saves steps in them."""

import numpy as np
import pytest

import efex
from benchmark_modules import benchmark

transfer = benchmark("transfer")


@pytest.fixture(scope="module")
def first():
    world = efex.make("sparse-maze", size=9, unique_fraction=0.3, seed=41)
    return efex.explore(world, steps=800, seed=41, progress=False)


def test_a_repainted_copy_is_known_sooner_with_the_map(first):
    world = transfer.repainted(first, 0.3, seed=41)
    assert np.array_equal(world.truth.target, first.truth.target)
    assert world.truth.observations != first.truth.observations
    steps = 2 * first.truth.n_nodes
    told = efex.transfer(world, first.graph, steps=steps, seed=41, progress=False)
    assert transfer.is_good(told, world)
    # Twice the steps from nothing are not enough.
    assert not transfer.is_good(efex.explore(world, steps=2 * steps, seed=41, progress=False), world)


def test_a_world_that_shares_a_half_leads_elsewhere_in_the_other(first):
    known, world = first.truth, transfer.sharing_half(first, 0.3, seed=41)
    half = known.n_nodes // 2
    assert world.truth.observations[:half] == known.observations[:half]
    assert not set(world.truth.observations[half:]) & set(known.observations)
    shared = known.source < half
    assert np.array_equal(world.truth.target[shared], known.target[shared])
    assert not np.array_equal(world.truth.target[~shared], known.target[~shared])


def test_the_table_has_a_line_for_every_seed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(transfer, "TRANSFER_MARKS", range(100, 201, 100))
    monkeypatch.setattr(transfer, "ALONE_MARKS", range(200, 201))
    options = ["--world", "grid2d", "--steps", "300", "--seeds", "41", "--unique-fraction", "1.0"]
    monkeypatch.setattr("sys.argv", ["transfer.py", *options, "--keep", str(tmp_path)])
    transfer.main()
    *_, line = capsys.readouterr().out.splitlines()
    assert line.startswith("| grid2d | 41 | ")
    assert len(line.split("|")) == 8
