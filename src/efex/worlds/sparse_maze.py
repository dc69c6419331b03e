"""Sparse mazes: what the LabMaze library draws with its default parameters, shipped as text."""

from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.randomness import stream
from efex.worlds.topology import Topology, from_picture, read_picture

SHIPPED = {size: 100 if size == 21 else 20 for size in range(11, 42, 2)}
"""How many mazes of each size come with the package."""

MIN_SIZE = 5
"""LabMaze leaves no border around anything smaller."""

SEED_LIMIT = 2**31


def sparse_maze(seed: int, *, size: int = 21) -> Topology:
    """Return a LabMaze maze in a picture of side `size`, its border included.

    One hundred mazes of size 21 and twenty each of the other odd sizes from 11 to 41 are shipped, and the
    seed modulo their number says which. Any other odd size is drawn by labmaze, which must be installed.
    """
    return from_picture(sparse_picture(seed, size))


def teleport_maze(seed: int, *, size: int = 21) -> Topology:
    """Return the sparse maze of the same seed and size, in which bumping into a wall may lead home.

    An action that would leave the topology stays with probability 0.9 and goes home with 0.1. Episodes never
    end unless told.
    """
    return from_picture(sparse_picture(seed, size), teleports=True, episode_steps=None)


def sparse_picture(seed: int, size: int) -> NDArray[np.bool_]:
    """Return the picture of the sparse maze of this seed and size."""
    size = whole("size", size, at_least=MIN_SIZE)
    if size % 2 == 0:
        raise InvalidArgumentError(f"size must be odd, not {size}: try {size - 1} or {size + 1}")
    if size in SHIPPED:
        return read_picture(shipped_mazes(size)[seed % SHIPPED[size]])
    rng = stream(seed, "structure")
    while True:
        picture = draw(size, random_seed=int(rng.integers(SEED_LIMIT)))
        if is_connected(picture):
            return picture


@lru_cache
def shipped_mazes(size: int) -> tuple[tuple[str, ...], ...]:
    """Return the shipped mazes of one size, each as its lines of text."""
    text = resources.files("efex.worlds").joinpath("mazes", f"{size}.txt").read_text("ascii")
    return tuple(tuple(maze.splitlines()) for maze in text.split("\n\n"))


def draw(size: int, *, random_seed: int) -> NDArray[np.bool_]:
    """Return the picture labmaze draws with its default parameters; needs labmaze."""
    try:
        import labmaze
    except ImportError as error:
        raise InvalidArgumentError(
            f"size must be odd and from {min(SHIPPED)} to {max(SHIPPED)}, not {size}, unless labmaze is "
            'installed: pip install "efex[labmaze]" with a Python below 3.13'
        ) from error
    maze = labmaze.RandomMaze(height=size, width=size, random_seed=random_seed)
    return read_picture(str(maze.entity_layer).splitlines())


def is_connected(picture: NDArray[np.bool_]) -> bool:
    """Return whether there is an accessible cell and every other can be reached from it."""
    from scipy import ndimage  # slow to load, and only this world needs it

    _, parts = ndimage.label(picture)
    return bool(parts == 1)
