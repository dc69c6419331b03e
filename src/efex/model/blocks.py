"""Blocks: transition mass exists only for the (action, observation, next observation) triples that occurred."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels.blocks import copy_blocks, find_blocks
from efex.kernels.cpu import Walks
from efex.model.layout import CloneLayout
from efex.triples import Triples, key_triples, triple_keys


@dataclass(frozen=True, eq=False, repr=False)
class Blocks:
    """The stored triples, sorted, and where each one's K x K' entries lie in a flat array."""

    layout: CloneLayout
    action: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    triples: Triples | None = None
    """Those of an experience, if they are."""

    @classmethod
    def of_experience(cls, experience: Experience, layout: CloneLayout) -> Blocks:
        """Return the blocks of every triple that occurs in `experience`."""
        triples = experience.triples
        return cls(layout, triples.action, triples.source, triples.target, triples)

    @classmethod
    def of_triples(
        cls,
        action: NDArray[np.int32],
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        *,
        layout: CloneLayout,
    ) -> Blocks:
        """Return the blocks of the given triples, each once."""
        n = max(layout.n_observations, 1)
        return cls(layout, *key_triples(np.unique(triple_keys(action, source, target, n)), n))

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """One sorted whole number per block."""
        return triple_keys(self.action, self.source, self.target, self.layout.n_observations)

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Where each block's entries begin, and the number of entries in all."""
        sizes = np.asarray(self.layout.sizes, np.int64)
        entries = sizes[self.source] * sizes[self.target] if len(self) else np.zeros(0, np.int64)
        return np.concatenate([[0], np.cumsum(entries)]).astype(np.int64)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """Where the blocks of every (action, source) begin, also of those that have none, and the number of blocks."""
        n = self.layout.n_observations
        pairs = self.action.astype(np.int64) * n + self.source
        return np.searchsorted(pairs, np.arange((self.action.max(initial=-1) + 1) * n + 1))

    @cached_property
    def row(self) -> NDArray[np.int64]:
        """The row of every entry among all (action, state)."""
        sizes, first = np.asarray(self.layout.sizes, np.int64), self.layout.first
        n = sizes[self.source]
        begin = self.action.astype(np.int64) * self.layout.n_states + first[self.source]
        within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        return np.repeat(np.repeat(begin, n) + within, np.repeat(sizes[self.target], n))

    def __len__(self) -> int:
        return len(self.action)

    @property
    def n_entries(self) -> int:
        """Number of stored transitions."""
        return int(self.start[-1])

    def find(
        self, action: NDArray[np.int32], source: NDArray[np.int32], target: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Return the block of every triple, -1 where none is stored."""
        found = np.empty(len(action), np.int32)
        find_blocks(action, source, target, self.layout.n_observations, self.groups, self.target, found)
        return found

    def find_one(self, action: int, source: int, target: int) -> int:
        """Return the block of one triple, -1 where none is stored."""
        key = (action * self.layout.n_observations + source) * self.layout.n_observations + target
        at = int(np.searchsorted(self.keys, key))
        return at if at < len(self) and self.keys[at] == key else -1

    def bind(self, experience: Experience) -> Walks:
        """Return the experience as the kernels take it: every step knows its block."""
        observations, actions = experience.observations, experience.actions
        if self.are_of(experience):
            block = experience.triples.step
        else:
            # An episode's last observation has action -1, which no block has.
            block = self.find(actions, observations, np.roll(observations, -1))
        return Walks(observations, actions, experience.offsets, block)

    def are_of(self, experience: Experience) -> bool:
        """Whether these are the blocks of this very experience, which has not grown since."""
        return self.triples is not None and self.triples is experience.triples

    def carry(self, values: NDArray[np.float32], other: Blocks) -> NDArray[np.float32]:
        """Return `values` of these blocks laid out as `other`, whose layout may have grown; zero where new."""
        out = np.zeros(other.n_entries, values.dtype)
        sizes, grown = np.asarray(self.layout.sizes, np.int64), np.asarray(other.layout.sizes, np.int64)
        found = other.find(self.action, self.source, self.target)
        widths, new_widths = sizes[self.target], grown[self.target]
        copy_blocks(values, self.start, widths, out, other.start, new_widths, found)
        return out
