"""Urge: now and then one random action, repeated; what a map hides may lie behind many steps that look alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from efex.arrays import State

LONGEST = 100
"""Steps for which one action is repeated, at most."""


SETTLED = 1500
"""After so many steps that left the map as it was, urges come as often as they ever do."""


class Urge:
    """Lasts n steps or more with the chance 1 / n; it comes over an agent with the chance `restlessness` in a step.

    Before the map has stood still for long, it comes less often: while it changes there are better things to do.
    """

    def __init__(self, restlessness: float, rng: np.random.Generator) -> None:
        self._restlessness, self._rng = restlessness, rng
        self._action = self._left = 0

    def follow(self, draw: Callable[[], int], *, settled_for: int) -> int | None:
        """Return the action that is urged, drawn by `draw` if it is a new urge, or None.

        `settled_for` says for how many steps the map has stood still.
        """
        if self._left == 0:
            if self._rng.random() >= self._restlessness * min(settled_for / SETTLED, 1.0):
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
