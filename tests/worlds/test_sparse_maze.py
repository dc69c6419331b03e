import sys

import numpy as np
import pytest

from efex.errors import InvalidArgumentError
from efex.worlds import make
from efex.worlds.generate_mazes import maze_text
from efex.worlds.sparse_maze import SHIPPED, is_connected, shipped_mazes, sparse_picture
from efex.worlds.topology import read_picture


def test_a_hundred_of_size_21_and_twenty_of_the_other_odd_sizes():
    assert list(SHIPPED) == list(range(11, 43, 2))
    assert [count for count in SHIPPED.values() if count != 20] == [SHIPPED[21]] == [100]


@pytest.mark.parametrize("size", SHIPPED)
def test_shipped_mazes_are_whole(size):
    mazes = shipped_mazes(size)
    assert len(set(mazes)) == len(mazes) == SHIPPED[size]
    for maze in mazes:
        assert set("".join(maze)) == {"*", " "}
        picture = read_picture(maze)
        assert picture.shape == (size, size)
        assert is_connected(picture)
        assert not picture[[0, -1]].any()
        assert not picture[:, [0, -1]].any()


@pytest.mark.parametrize("size", [11, 21])
def test_shipped_mazes_are_what_labmaze_draws(size):
    pytest.importorskip("labmaze")
    assert maze_text(size, SHIPPED[size]).splitlines() == "\n\n".join(map("\n".join, shipped_mazes(size))).splitlines()


def test_the_seed_says_which_maze():
    assert np.array_equal(sparse_picture(3, 21), sparse_picture(103, 21))
    assert np.array_equal(sparse_picture(3, 23), sparse_picture(23, 23))
    assert not np.array_equal(sparse_picture(3, 21), sparse_picture(4, 21))


def test_another_size_is_drawn_by_labmaze():
    pytest.importorskip("labmaze")
    world = make("sparse-maze", size=9, seed=2)
    assert world.truth.coordinates.max() < 9
    assert np.array_equal(sparse_picture(2, 9), sparse_picture(2, 9))


def test_another_size_without_labmaze_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "labmaze", None)
    make("sparse-maze", size=41)
    with pytest.raises(InvalidArgumentError, match=r'pip install "efex\[labmaze\]" with a Python below 3.13'):
        make("sparse-maze", size=43)


@pytest.mark.parametrize("size", [20, 4, 3, 21.0, "21", None, True])
def test_sizes_labmaze_cannot_draw(size):
    with pytest.raises(InvalidArgumentError, match="size must be"):
        make("teleport-maze", size=size)


def test_teleports_share_the_sparse_maze_and_never_end():
    plain, teleporting = make("sparse-maze", seed=5), make("teleport-maze", seed=5)
    assert plain.episode_steps == 100
    assert teleporting.episode_steps is None
    assert make("teleport-maze", episode_steps=8).episode_steps == 8
    assert plain.truth.starts == teleporting.truth.starts
    assert plain.truth.observations == teleporting.truth.observations
    home = plain.truth.starts[0]
    for action in range(4):
        before, after = (world.truth.transition(action).toarray() for world in (plain, teleporting))
        bumps = before.diagonal() > 0
        assert np.array_equal(after[~bumps], before[~bumps])
        away = bumps & (np.arange(len(before)) != home)
        assert set(after.diagonal()[away].tolist()) == {0.9}
        assert set(after[away, home].tolist()) == {0.1}
