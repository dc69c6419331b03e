"""Grids and pictures by hand: where actions lead, where home is, how many nodes there are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from efex.errors import InvalidArgumentError
from efex.worlds import from_picture, make
from efex.worlds.topology import read_picture, write_picture

UP, DOWN, LEFT, RIGHT = range(4)
PICTURES = arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 6))).filter(np.any)


def targets(topology, action):
    return np.asarray(topology.base[action].argmax(axis=1)).ravel().tolist()


def test_a_picture_by_hand():
    topology = from_picture(read_picture(["* *", "   "]))
    assert topology.n_nodes == 4
    assert targets(topology, UP) == [0, 1, 0, 3]
    assert targets(topology, DOWN) == [2, 1, 2, 3]
    assert targets(topology, LEFT) == [0, 1, 1, 2]
    assert targets(topology, RIGHT) == [0, 2, 3, 3]
    assert topology.coordinates.tolist() == [[1, 1], [0, 0], [1, 0], [2, 0]]
    assert topology.home == 1


def test_six_actions_in_three_dimensions():
    topology = from_picture(np.ones((2, 2, 2), bool))
    assert targets(topology, 0) == [0, 1, 2, 3, 0, 1, 2, 3]
    assert targets(topology, 1) == [4, 5, 6, 7, 4, 5, 6, 7]
    assert targets(topology, 5) == [1, 1, 3, 3, 5, 5, 7, 7]
    assert topology.coordinates[1].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("lines", "home"),
    [
        (["  ", "  "], 0),
        (["* ", "  "], 0),
        (["**", "* "], 0),
        (["***", "* *", "** "], 1),
        (["****", "** *", "* **", "****"], 0),
        (["**", "  "], 0),
        (["* *", "   ", "* *"], 0),
    ],
)
def test_home_by_hand(lines, home):
    assert from_picture(read_picture(lines)).home == home


@settings(deadline=None)
@given(PICTURES)
def test_home_is_nearest_to_a_corner(picture):
    places = np.argwhere(picture)
    bottom, right = picture.shape[0] - 1, picture.shape[1] - 1
    ranked = [
        (abs(row - r) + abs(column - c), order, node)
        for order, (r, c) in enumerate([(0, 0), (0, right), (bottom, 0), (bottom, right)])
        for node, (row, column) in enumerate(places)
    ]
    assert from_picture(picture).home == min(ranked)[2]


@settings(deadline=None)
@given(PICTURES)
def test_a_move_goes_to_the_next_cell_or_stays(picture):
    topology = from_picture(picture)
    number = {tuple(place): node for node, place in enumerate(np.argwhere(picture).tolist())}
    for action, (down, right) in enumerate([(-1, 0), (1, 0), (0, -1), (0, 1)]):
        expected = [number.get((r + down, c + right), node) for (r, c), node in number.items()]
        assert targets(topology, action) == expected
        assert topology.base[action].nnz == len(number)


@settings(deadline=None)
@given(PICTURES)
def test_text_draws_the_picture(picture):
    assert np.array_equal(read_picture(write_picture(picture)), picture)


@settings(deadline=None)
@given(PICTURES)
def test_teleports_stay_or_go_home(picture):
    plain, teleporting = from_picture(picture), from_picture(picture, teleports=True)
    for before, after in zip(plain.base, teleporting.base):
        expected = before.toarray()
        stays = np.flatnonzero(expected.diagonal())
        expected[stays] *= 0.9
        expected[stays, plain.home] += 0.1
        np.testing.assert_allclose(after.toarray(), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "options", "nodes", "actions"),
    [
        ("grid2d", {}, 441, 4),
        ("grid2d", {"size": 3}, 9, 4),
        ("grid3d", {}, 343, 6),
        ("icg", {}, 412, 4),
        ("icg", {"grid": 3, "corridor": 2}, 44, 4),
        ("chain", {}, 50, 2),
    ],
)
def test_sizes(name, options, nodes, actions):
    truth = make(name, **options).truth
    assert (truth.n_nodes, truth.n_actions) == (nodes, actions)


def test_interconnected_grids_drawn():
    world = make("icg", grid=3, corridor=2, render_mode="ansi")
    world.reset()
    room, passage, wall = "   **   ", "        ", "* **** *"
    expected = [room, passage, room, wall, wall, room, passage, room]
    assert world.render().replace("@", " ").splitlines() == expected


@pytest.mark.parametrize("picture", [np.zeros((2, 2)), np.ones((1, 1, 1, 1)), np.ones(())])
def test_a_picture_without_places_is_refused(picture):
    with pytest.raises(InvalidArgumentError, match="picture must"):
        from_picture(picture)
