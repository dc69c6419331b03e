import subprocess
import sys

import gymnasium
import pytest

from efex.errors import InvalidArgumentError
from efex.worlds import make, register, world_names


def test_the_names():
    expected = ("chain", "grid2d", "grid3d", "icg", "dense-maze", "sparse-maze", "teleport-maze")
    assert world_names() == expected


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("sparse_maze", "sparse-maze"),
        ("Grid2D", "grid2d"),
        ("chian", "chain"),
        ("teleportmaze", "teleport-maze"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name, near):
    with pytest.raises(InvalidArgumentError, match=f"one of chain, .*teleport-maze, .*did you mean '{near}'"):
        make(name)


@pytest.mark.parametrize("name", ["qqqqq", "", None, 3])
def test_a_name_like_no_other_is_answered_with_the_list(name):
    with pytest.raises(InvalidArgumentError, match="one of chain, grid2d"):
        make(name)


def test_an_unknown_option_is_answered_with_those_there_are():
    with pytest.raises(InvalidArgumentError, match=r"dense-maze .*size, corridor .*unique_fraction.*not 'length'"):
        make("dense-maze", length=3)
    register()
    with pytest.raises(InvalidArgumentError, match="not 'length'"):
        gymnasium.make("efex/grid2d-v0", length=3)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("grid2d", {"unique_fraction": 0}, "unique_fraction must be a number above 0 and at most 1, not 0"),
        ("grid2d", {"unique_fraction": 1.1}, "unique_fraction must"),
        ("grid2d", {"unique_fraction": float("nan")}, "unique_fraction must"),
        ("grid2d", {"unique_fraction": "half"}, "unique_fraction must"),
        ("grid2d", {"seed": -1}, "seed must"),
        ("sparse-maze", {"seed": 1.5}, "seed must"),
        ("sparse-maze", {"seed": None}, "seed must"),
        ("grid2d", {"episode_steps": 0}, "episode_steps must"),
        ("grid2d", {"episode_steps": 2.5}, "episode_steps must"),
        ("grid2d", {"random_start": "no"}, "random_start must"),
        ("grid2d", {"render_mode": "human"}, "render_mode must"),
        ("grid2d", {"size": 1}, "size must be a whole number of at least 2, not 1"),
        ("grid2d", {"size": 3.0}, "size must"),
        ("grid3d", {"size": True}, "size must"),
        ("icg", {"grid": 0}, "grid must"),
        ("icg", {"corridor": 0}, "corridor must"),
        ("dense-maze", {"corridor": 0}, "corridor must"),
        ("chain", {"length": 1}, "length must"),
        ("chain", {"trap": 1}, "trap must"),
    ],
)
def test_bad_options(name, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        make(name, **options)


def test_default_episodes():
    lengths = {name: make(name).episode_steps for name in world_names()}
    assert lengths.pop("chain") == 59
    assert lengths.pop("teleport-maze") is None
    assert set(lengths.values()) == {100}
    assert make("chain", episode_steps=None).episode_steps is None


def test_labmaze_is_imported_only_when_needed():
    code = "import sys, efex.worlds; efex.worlds.make('sparse-maze'); assert 'labmaze' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
