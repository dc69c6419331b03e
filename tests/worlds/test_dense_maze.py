import numpy as np
import pytest

from efex.errors import InvalidArgumentError
from efex.worlds import make
from efex.worlds.dense_maze import dense_maze
from efex.worlds.sparse_maze import is_connected


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("options", "side", "cells", "corridor"),
    [
        ({}, 21, 4, 4),
        ({"size": 21}, 21, 4, 4),
        ({"corridor": 5}, 25, 4, 5),
        ({"size": 25, "corridor": 5}, 25, 4, 5),
        ({"size": 26}, 26, 5, 4),
        ({"size": 31, "corridor": 1}, 31, 15, 1),
    ],
)
def test_one_path_joins_the_cells(seed, options, side, cells, corridor):
    picture = dense_maze(seed, **options).picture
    pitch = corridor + 1
    assert picture.shape == (side, side)
    assert not np.concatenate([picture[[0, -1]].ravel(), picture[:, [0, -1]].ravel()]).any()
    assert all(picture[r, c] for r in range(side) for c in range(side) if r % pitch and c % pitch)
    # cells**2 - 1 openings and no part left out: a tree.
    assert picture.sum() == cells**2 * corridor**2 + (cells**2 - 1) * corridor
    assert is_connected(picture)


def test_the_default_has_316_nodes_and_begins_at_the_corner():
    world = make("dense-maze")
    assert world.truth.n_nodes == 316
    assert world.truth.starts == (0,)


def test_seeds_give_different_mazes():
    pictures = {dense_maze(seed).picture.tobytes() for seed in range(20)}
    assert len(pictures) == 20


@pytest.mark.parametrize(
    ("options", "nearest"),
    [
        ({"size": 25}, "21 and 26"),
        ({"size": 21, "corridor": 5}, "19 and 25"),
        ({"size": 3}, "11 and 16"),
        ({"size": 6}, "11 and 16"),
    ],
)
def test_a_size_that_does_not_fit_names_the_nearest(options, nearest):
    with pytest.raises(InvalidArgumentError, match=nearest):
        make("dense-maze", **options)
