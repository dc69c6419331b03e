"""CloneLayout: which states show which observation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from efex.errors import InvalidArgumentError


@dataclass(frozen=True)
class CloneLayout:
    """The states of one observation are contiguous: its clones, `sizes[x]` of them."""

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if any(size < 1 for size in self.sizes):
            raise InvalidArgumentError(f"every observation needs at least one clone, not {min(self.sizes)}")

    @classmethod
    def uniform(cls, n_observations: int, clones: int) -> CloneLayout:
        """Return the layout with the same number of clones for every observation."""
        return cls((clones,) * n_observations)

    @property
    def n_observations(self) -> int:
        """Number of observations."""
        return len(self.sizes)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.first[-1])

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first state of every observation, and the number of states."""
        return np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)]).astype(np.int64)

    @cached_property
    def observation(self) -> NDArray[np.int64]:
        """What every state shows."""
        return np.repeat(np.arange(self.n_observations), self.sizes)

    def block(self, observation: int) -> slice:
        """Return the states that show `observation`."""
        return slice(int(self.first[observation]), int(self.first[observation + 1]))

    def resized(self, sizes: Sequence[int]) -> tuple[CloneLayout, NDArray[np.int64]]:
        """Return the layout with at least as many clones, and the new index of every old state."""
        new = CloneLayout(tuple(sizes))
        if new.n_observations < self.n_observations or any(n < o for n, o in zip(sizes, self.sizes)):
            raise InvalidArgumentError("a layout can only grow")
        moved = np.arange(self.n_states) + np.repeat(new.first[: self.n_observations] - self.first[:-1], self.sizes)
        return new, moved
