"""Dense mazes: wide corridors between thin walls, carved by a randomised depth-first search."""

import numpy as np
from numpy.typing import NDArray

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.randomness import stream
from efex.worlds.topology import Topology, from_picture

CELLS = 4


def dense_maze(seed: int, *, size: int | None = None, corridor: int = 4) -> Topology:
    """Return a depth-first maze in a picture of side `size`, outer wall included; 4 x 4 cells unless told.

    Walls are 1 thick, corridors and the openings between cells `corridor` wide, so that `cells` cells need a
    side of cells * (corridor + 1) + 1. The paper asks for corridors five times as thick as the walls and for
    21 x 21 in all. The two do not quite fit together: 4 x 4 cells at a pitch of five fill 21 x 21 but leave
    corridors of 4, the default here; `corridor=5` is the other reading and fills 25 x 25.
    """
    corridor = whole("corridor", corridor, at_least=1)
    cells = CELLS if size is None else _cells(whole("size", size, at_least=1), corridor)
    return from_picture(_carve(cells, corridor, stream(seed, "structure")))


def _cells(size: int, corridor: int) -> int:
    pitch = corridor + 1
    cells, rest = divmod(size - 1, pitch)
    if rest or cells < 2:
        below = max(cells, 2)
        nearest = f"{below * pitch + 1} and {(below + 1) * pitch + 1}"
        raise InvalidArgumentError(
            f"size must be cells * (corridor + 1) + 1 with at least 2 cells, not {size}; "
            f"with corridor={corridor} the nearest sizes are {nearest}"
        )
    return cells


def _carve(cells: int, corridor: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return the picture of a maze in which one path joins any two cells."""
    pitch = corridor + 1
    picture = np.zeros((cells * pitch + 1,) * 2, bool)
    first = (int(rng.integers(cells)), int(rng.integers(cells)))
    path, seen = [first], {first}
    while path:
        row, column = path[-1]
        around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        fresh = [cell for cell in around if cell not in seen and min(cell) >= 0 and max(cell) < cells]
        if not fresh:
            path.pop()
            continue
        following = fresh[rng.integers(len(fresh))]
        # One block covers both cells and the wall between them.
        (top, bottom), (left, right) = (sorted(pair) for pair in zip((row, column), following))
        picture[top * pitch + 1 : (bottom + 1) * pitch, left * pitch + 1 : (right + 1) * pitch] = True
        seen.add(following)
        path.append(following)
    return picture
