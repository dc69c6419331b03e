"""Replay: every step so far, to be drawn from at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.void]


class Replay:
    """All steps in one growable array; adding one is O(1) amortised."""

    def __init__(self, n_actions: int, *, heads: int) -> None:
        columns = [
            ("state", np.int32),
            ("action", np.int32),
            ("after", np.int32),
            ("ended", np.bool_),
            ("allowed", np.bool_, (n_actions,)),
            ("heads", np.bool_, (heads,)),
        ]
        self._rows: Rows = np.zeros(1024, columns)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(
        self,
        state: int,
        action: int,
        after: int,
        *,
        ended: bool,
        allowed: NDArray[np.bool_],
        heads: NDArray[np.bool_],
    ) -> None:
        """Remember a step, whether it ended the episode for good, which actions follow, and which heads learn it."""
        if self._length == len(self._rows):
            self._rows = np.resize(self._rows, 2 * self._length)
        self._rows[self._length] = (state, action, after, ended, allowed, heads)
        self._length += 1

    def draw(self, shape: tuple[int, int], *, rng: np.random.Generator) -> Rows:
        """Return that many steps, uniformly at random, with replacement."""
        return self._rows[rng.integers(self._length, size=shape)]
