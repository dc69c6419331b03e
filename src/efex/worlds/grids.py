"""Regular grids, and four grids that corridors join."""

import numpy as np

from efex.checks import whole
from efex.worlds.topology import Topology, from_picture


def grid2d(seed: int, *, size: int = 21) -> Topology:
    """Return a `size` x `size` grid with 4 actions; the seed changes nothing."""
    return from_picture(np.ones((whole("size", size, at_least=2),) * 2, bool))


def grid3d(seed: int, *, size: int = 7) -> Topology:
    """Return a `size` x `size` x `size` grid with 6 actions; the seed changes nothing."""
    return from_picture(np.ones((whole("size", size, at_least=2),) * 3, bool))


def icg(seed: int, *, grid: int = 10, corridor: int = 3) -> Topology:
    """Return four `grid` x `grid` grids in a square, joined in a ring; the seed changes nothing.

    Corridors one cell wide and `corridor` long join neighbouring grids from the middle of their sides.
    """
    grid = whole("grid", grid, at_least=1)
    corridor = whole("corridor", corridor, at_least=1)
    far = grid + corridor
    picture = np.zeros((grid + far, grid + far), bool)
    for row in (0, far):
        for column in (0, far):
            picture[row : row + grid, column : column + grid] = True
    for middle in (grid // 2, far + grid // 2):
        picture[middle, grid:far] = True
        picture[grid:far, middle] = True
    return from_picture(picture)
