"""How far two maps of the same walk agree: the share of positions on which their best match agrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from efex.errors import InvalidArgumentError


def agreement(path_a: NDArray[np.int64], path_b: NDArray[np.int64]) -> float:
    """Return the share of positions at which two decodings of one walk are at the same place.

    Places have no names of their own, so those of one path are matched one to one with those of the other, in the way
    that makes most positions agree. 1 means that both tell the same places apart.

    >>> import numpy as np
    >>> agreement(np.array([0, 1, 2, 0]), np.array([5, 3, 4, 5]))
    1.0
    >>> agreement(np.array([0, 1, 2, 0]), np.array([5, 3, 3, 5]))
    0.75
    """
    from scipy.optimize import linear_sum_assignment  # slow to load, and only this needs it

    first, second = np.asarray(path_a), np.asarray(path_b)
    if first.ndim != 1 or first.shape != second.shape:
        raise InvalidArgumentError(
            f"path_a and path_b must be of the same walk, one state per position; "
            f"got shapes {first.shape} and {second.shape}"
        )
    if len(first) == 0:
        return 1.0
    rows, row = np.unique(first, return_inverse=True)
    columns, column = np.unique(second, return_inverse=True)
    together = np.zeros((len(rows), len(columns)), np.int64)
    np.add.at(together, (row, column), 1)
    matched = linear_sum_assignment(together, maximize=True)
    return float(together[matched].sum() / len(first))
