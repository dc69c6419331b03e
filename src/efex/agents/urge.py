"""Urge: now and then one random action, repeated; what a map hides may lie behind many steps that look alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from efex.arrays import State

LONGEST = 100
"""Steps for which one action is repeated, at most."""


class Urge:
    """Comes over an agent in a step with the chance `restlessness` and lasts n steps or more with the chance 1 / n."""

    def __init__(self, restlessness: float, rng: np.random.Generator) -> None:
        self._restlessness, self._rng = restlessness, rng
        self._action = self._left = 0

    def follow(self, draw: Callable[[], int]) -> int | None:
        """Return the action that is urged, drawn by `draw` if it is a new urge, or None."""
        if self._left == 0:
            if self._rng.random() >= self._restlessness:
                return None
            self._left = int(min(1 / (1 - self._rng.random()), LONGEST))
            self._action = draw()
        self._left -= 1
        return self._action

    def keep(self) -> State:
        """Return what is urged and for how long, to be kept."""
        return State(about={"action": self._action, "left": self._left})

    def put_back(self, state: State) -> None:
        """Feel what was kept."""
        self._action, self._left = state.whole("action"), state.whole("left", most=LONGEST)

    def rest(self) -> None:
        """Let go of what is urged."""
        self._left = 0
