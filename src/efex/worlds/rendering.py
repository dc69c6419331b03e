"""Pictures of a world with the agent at its place: text, or pixels coloured by observation."""

import colorsys

import numpy as np
from numpy.typing import NDArray

from efex.worlds.topology import WALL

AGENT = "@"
CELL_PIXELS = 12
MARK_MARGIN = 4
GOLDEN_RATIO = (5**0.5 - 1) / 2


def canvas(picture: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the node at every cell of a flat drawing, -1 at walls; layers lie side by side."""
    numbers = np.full(picture.shape, -1)
    numbers[picture] = np.arange(int(picture.sum()))
    if picture.ndim < 3:
        return np.atleast_2d(numbers)
    spaced = np.pad(numbers, ((0, 0), (0, 0), (0, 1)), constant_values=-1)
    return np.concatenate(list(spaced), axis=1)[:, :-1]


def as_text(numbers: NDArray[np.int64], node: int) -> str:
    """Return the drawing as text: '*' is wall, '@' the agent."""
    marks = np.where(numbers < 0, WALL, np.where(numbers == node, AGENT, " "))
    return "\n".join("".join(row) for row in marks)


def as_pixels(numbers: NDArray[np.int64], node: int, *, observations: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the drawing as (height, width, 3) pixels: a colour per observation, walls and agent black."""
    colours = np.array([_colour(code) for code in range(int(observations.max()) + 1)], np.uint8)
    cells = np.where(numbers[..., None] < 0, np.uint8(0), colours[observations[numbers]])
    pixels = cells.repeat(CELL_PIXELS, axis=0).repeat(CELL_PIXELS, axis=1)
    row, column = np.argwhere(numbers == node)[0] * CELL_PIXELS
    inner = slice(MARK_MARGIN, CELL_PIXELS - MARK_MARGIN)
    pixels[row : row + CELL_PIXELS, column : column + CELL_PIXELS][inner, inner] = 0
    return pixels


def _colour(code: int) -> tuple[int, int, int]:
    # Steps of the golden ratio keep the hues of neighbouring codes far apart, however many there are.
    red, green, blue = colorsys.hsv_to_rgb(code * GOLDEN_RATIO % 1, 0.45, 0.95)
    return int(255 * red), int(255 * green), int(255 * blue)
