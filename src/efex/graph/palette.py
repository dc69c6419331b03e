"""Colours for observations: as many as needed, each as far from the others as they go."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

DISTINCT = 96
"""More colours than this cannot be told apart anyway, so they repeat."""


def palette(size: int) -> NDArray[np.float64]:
    """Return `size` colours as rows of red, green and blue from 0 to 1; fewer colours begin more colours."""
    return _colours()[np.arange(size) % DISTINCT]


@cache
def _colours() -> NDArray[np.float64]:
    """Return colours picked one by one, each the farthest from those before it and from white paper."""
    levels = np.linspace(0, 1, 18)
    rgb = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3)
    lab = _oklab(rgb)
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    # Pale, murky and glaring colours are left to paper, ink and edges.
    usable = (lab[:, 0] > 0.42) & (lab[:, 0] < 0.86) & (chroma > 0.055) & (chroma < 0.19)
    rgb, lab = rgb[usable], lab[usable]
    first = int(np.argmin(np.linalg.norm(rgb - [0.20, 0.45, 0.75], axis=1)))
    chosen = [first]
    nearest = np.minimum(_distance(lab, lab[first]), _distance(lab, np.array([1.0, 0.0, 0.0])))
    while len(chosen) < DISTINCT:
        chosen.append(int(np.argmax(nearest)))
        np.minimum(nearest, _distance(lab, lab[chosen[-1]]), out=nearest)
    return rgb[chosen]


def _distance(lab: NDArray[np.float64], colour: NDArray[np.float64]) -> NDArray[np.float64]:
    distance: NDArray[np.float64] = np.linalg.norm((lab - colour) * [0.8, 1.0, 1.0], axis=1)
    return distance


def _oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return lightness and two colour axes in which distance is close to difference seen (Ottosson, 2020)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    cones = linear @ np.array(
        [
            [0.4122214708, 0.2119034982, 0.0883024619],
            [0.5363325363, 0.6806995451, 0.2817188376],
            [0.0514459929, 0.1073969566, 0.6299787005],
        ]
    )
    lab: NDArray[np.float64] = np.cbrt(cones) @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )
    return lab
