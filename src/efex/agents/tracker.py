"""Tracker: the current episode decoded step by step under a fixed model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
        self._push(int(observations[0]))
        for action, observation in zip(actions.tolist(), observations[1:].tolist()):
            self._push(observation, action)
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

    def _push(self, observation: int, action: int | None = None) -> None:
        t = self._length
        if t == len(self._observations):
            self._reserve(2 * t)
        self._observations[t] = observation
        self._at[t + 1] = self._at[t] + self._model.layout.sizes[observation]
        self._length = t + 1
        out = self._messages[self._at[t] : self._at[t + 1]]
        if action is None:
            cpu.start_message(self._walks, self._weights, 0, out, True)
            return
        self._actions[t - 1] = action
        self._block[t - 1] = self._model.blocks.find_one(action, int(self._observations[t - 1]), observation)
        before = self._messages[self._at[t - 1] : self._at[t]]
        if not cpu.advance(self._walks, self._weights, t - 1, before, out, True) > 0:
            out[:] = 1

    @property
    def _walks(self) -> cpu.Walks:
        return cpu.Walks(self._observations, self._actions, self._at, self._block)

    def trace(self) -> int:
        """Decode what was pushed; return the first position whose state changed."""
        return int(cpu.trace_back(self._walks, self._weights, 0, self._length, self._at, self._messages, self._path))

    def step(self, action: int, observation: int) -> int:
        """Take one more step; return the first position whose state changed."""
        self._push(observation, action)
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
