"""Tracker: the current episode decoded step by step under a fixed model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.agents.whereabouts import Whereabouts
from efex.kernels import cpu
from efex.model.cscg import Model


class Tracker:
    """Keeps the max-product messages of one walk, so that one more step costs one message and a short trace back."""

    def __init__(self, model: Model, observations: NDArray[np.int32], actions: NDArray[np.int32]) -> None:
        self._model = model
        self._weights = model.weights
        self._widest = int(max(model.layout.sizes))
        self._length = 0
        self._reserve(max(128, 2 * len(observations)))
        self._extend(observations, actions, model.blocks.find(actions, observations[:-1], observations[1:]))
        self.trace()

    def _reserve(self, capacity: int) -> None:
        def longer(old: NDArray, size: int, fill: int = -1) -> NDArray:  # type: ignore[type-arg]
            new = np.full(size, fill, old.dtype)
            new[: len(old)] = old
            return new

        if self._length == 0:
            self._observations = self._actions = self._block = np.zeros(0, np.int32)
            self._path = np.zeros(0, np.int64)
            self._at = np.zeros(1, np.int64)
            self._messages = np.zeros(0, self._weights.values.dtype)
        self._observations = longer(self._observations, capacity)
        self._actions = longer(self._actions, capacity)
        self._block = longer(self._block, capacity)
        self._path = longer(self._path, capacity)
        self._at = longer(self._at, capacity + 1)
        self._messages = longer(self._messages, capacity * self._widest, 0)

    def _extend(self, observations: ArrayLike, actions: ArrayLike, blocks: ArrayLike) -> None:
        """Take in more of the walk: what is seen, and the actions and blocks of the steps there."""
        begin, end = self._length, self._length + np.size(observations)
        if end > len(self._observations):
            self._reserve(2 * end)
        self._observations[begin:end] = observations
        first, seen = self._model.layout.first, self._observations[begin:end]
        self._at[begin + 1 : end + 1] = self._at[begin] + np.cumsum(first[seen + 1] - first[seen])
        steps = slice(max(begin - 1, 0), end - 1)
        self._actions[steps], self._block[steps] = actions, blocks
        self._length = end
        cpu.follow(self._walks, self._weights, begin, end, self._at, self._messages)

    @property
    def _walks(self) -> cpu.Walks:
        return cpu.Walks(self._observations, self._actions, self._at, self._block)

    def trace(self) -> int:
        """Decode what was taken in; return the first position whose state changed."""
        return int(cpu.trace_back(self._walks, self._weights, 0, self._length, self._at, self._messages, self._path))

    def step(self, action: int, observation: int) -> int:
        """Take one more step; return the first position whose state changed."""
        block = self._model.blocks.find_one(action, int(self._observations[self._length - 1]), observation)
        self._extend(observation, action, block)
        return self.trace()

    @property
    def whereabouts(self) -> Whereabouts:
        """The states where the walk may be, each as likely as the likeliest way there."""
        t = self._length - 1
        chance = self._messages[self._at[t] : self._at[t + 1]].astype(np.float64)
        return Whereabouts.of_chances(chance, first=int(self._model.layout.first[self._observations[t]]))

    @property
    def path(self) -> NDArray[np.int64]:
        """The likeliest state at every position."""
        return self._path[: self._length]
