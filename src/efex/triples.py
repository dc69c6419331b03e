"""Triples: the distinct (action, observation, next observation) of an experience, and which one every step is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Triples:
    """Sorted triples, each once, and the number of the one that every step is, -1 where an episode ends."""

    action: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    step: NDArray[np.int32]

    @classmethod
    def of_steps(cls, observations: NDArray[np.int32], actions: NDArray[np.int32]) -> Triples:
        """Return the triples of flat arrays, in which an episode's last action is -1."""
        taken, n = np.flatnonzero(actions >= 0), int(observations.max(initial=0)) + 1
        keys = triple_keys(actions[taken], observations[taken], observations[taken + 1], n)
        distinct, found = np.unique(keys, return_inverse=True)
        step = np.full(len(actions), -1, np.int32)
        step[taken] = found
        return cls(*key_triples(distinct, n), step)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """All positions, sorted by triple and then by time; ends of episodes come first."""
        return np.argsort(self.step, kind="stable")

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """Where in `order` the steps of every triple begin, and where those of the last one end."""
        return np.searchsorted(self.step[self.order], np.arange(len(self.action) + 1))


def triple_keys(
    action: NDArray[np.int32], source: NDArray[np.int32], target: NDArray[np.int32], n: int
) -> NDArray[np.int64]:
    """Return a whole number per triple that sorts as they do, where there are n observations."""
    return (action.astype(np.int64) * n + source) * n + target


def key_triples(keys: NDArray[np.int64], n: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the triples that these are the keys of."""
    pair, target = np.divmod(keys, n)
    action, source = np.divmod(pair, n)
    return action.astype(np.int32), source.astype(np.int32), target.astype(np.int32)
