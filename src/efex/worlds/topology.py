"""Topology: the places of a world and where each basic action leads, before aliasing and slip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from efex.errors import InvalidArgumentError

WALL = "*"
TELEPORT_PROBABILITY = 0.1
EPISODE_STEPS = 100


@dataclass(frozen=True, eq=False)
class Topology:
    """The places of a world and the transition matrix of each basic action between them.

    Nodes are the accessible cells of `picture` in reading order. In two dimensions the actions are up, down,
    left, right; in general action 2k lowers axis k of the picture and 2k + 1 raises it.
    """

    picture: NDArray[np.bool_]
    """True where a cell is accessible."""
    base: tuple[sp.csr_array, ...]
    """Transition probabilities of one basic action, each (n, n)."""
    coordinates: NDArray[np.float64]
    """Position of every node: (column, height above the bottom row), then the layer in three dimensions."""
    home: int
    """The node where episodes begin."""
    episode_steps: int | None = EPISODE_STEPS
    """Length of an episode unless told otherwise; None where it never ends."""
    aliased: bool = True
    """Whether the world takes a unique fraction and slip."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.coordinates)


def from_picture(picture: ArrayLike, *, teleports: bool = False, episode_steps: int | None = EPISODE_STEPS) -> Topology:
    """Return the topology of the accessible cells of `picture`, an array of one, two or three dimensions.

    An action that would leave the accessible cells stays. With `teleports` it stays with probability 0.9 and
    goes home with 0.1.

    >>> up, down, left, right = from_picture([[1, 1, 1], [1, 0, 1]]).base
    >>> right.toarray().argmax(axis=1).tolist()
    [1, 2, 2, 3, 4]
    """
    cells = np.asarray(picture, bool)
    if not 1 <= cells.ndim <= 3 or not cells.any():
        raise InvalidArgumentError("picture must have 1 to 3 dimensions and an accessible cell")
    start = home(cells)
    targets, blocked = moves(cells)
    base = [
        leads_to(target, np.where(wall & teleports, TELEPORT_PROBABILITY, 0.0), elsewhere=start)
        for target, wall in zip(targets, blocked)
    ]
    return Topology(cells, tuple(base), coordinates(cells), start, episode_steps)


def moves(picture: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return, per action and node, the node a move leads to and whether it is blocked and stays."""
    places = np.argwhere(picture)
    numbers = np.full([side + 2 for side in picture.shape], -1)
    numbers[tuple(places.T + 1)] = np.arange(len(places))
    steps = [sign * np.eye(picture.ndim, dtype=np.int64)[axis] for axis in range(picture.ndim) for sign in (-1, 1)]
    reached = np.stack([numbers[tuple((places + step).T + 1)] for step in steps])
    blocked = reached < 0
    return np.where(blocked, np.arange(len(places)), reached), blocked


def leads_to(target: NDArray[np.int64], astray: NDArray[np.float64], *, elsewhere: int) -> sp.csr_array:
    """Return the matrix that leads node i to `target[i]`, or with probability `astray[i]` to `elsewhere`."""
    n = len(target)
    rows = np.tile(np.arange(n), 2)
    columns = np.concatenate([target, np.full(n, elsewhere)])
    entries = sp.coo_array((np.concatenate([1 - astray, astray]), (rows, columns)), shape=(n, n))
    matrix = sp.csr_array(entries)
    matrix.eliminate_zeros()
    return matrix


def home(picture: NDArray[np.bool_]) -> int:
    """Return the node fewest steps from a corner of the picture; ties go to the first in reading order."""
    places = np.argwhere(picture)
    corners = np.array(list(product(*((0, side - 1) for side in picture.shape))))
    distances = np.abs(corners[:, None] - places[None]).sum(axis=2)
    return int(np.argmin(distances)) % len(places)


def coordinates(picture: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return a position per node that draws the picture upright: x rightwards, y upwards, then the layer."""
    places = np.argwhere(picture)
    if picture.ndim == 1:
        return np.column_stack([places[:, 0], np.zeros(len(places))]).astype(np.float64)
    places[:, -2] = picture.shape[-2] - 1 - places[:, -2]
    return places[:, ::-1].astype(np.float64)


def read_picture(lines: Sequence[str]) -> NDArray[np.bool_]:
    """Return the picture that `lines` of text draw: '*' is wall, anything else is accessible."""
    return np.array([[mark != WALL for mark in line] for line in lines])


def write_picture(picture: NDArray[np.bool_]) -> list[str]:
    """Return the lines of text that draw a two-dimensional picture."""
    return ["".join(" " if free else WALL for free in row) for row in picture]
