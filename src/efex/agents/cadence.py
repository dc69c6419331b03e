"""Cadence: when a model is refitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from efex.arrays import State
from efex.belief import Belief
from efex.parts import keep_belief, read_belief

MOST_PATIENCE = 4
"""How many times longer than usual a refit waits, at most, where the map has stopped changing."""


@dataclass
class Cadence:
    """A refit is due after `every` steps, and not before the experience has grown by the share `growth`.

    A surprise makes a brief one due, `prompt` steps after the last one at the earliest; 0: never. Who is `patient`
    waits twice as long, three times as long, ... when refits have left the map as it was, until an edge is walked that
    was not on it.
    """

    every: int
    growth: float
    patient: bool
    prompt: int

    def reset(self) -> None:
        """Forget everything."""
        self.waited = self._settled = self._unsettled_at = self._since = 0
        self._is_surprised = False
        self._known: Belief | None = None

    def settled_for(self, n_steps: int) -> int:
        """Return for how many steps refits have left the map as it was, and no edge was walked that was not on it."""
        return n_steps - self._unsettled_at

    def keep(self) -> State:
        """Return how long it has waited and on what map, to be kept."""
        parts = {} if self._known is None else {"known": keep_belief(self._known)}
        about = {"waited": self.waited, "settled": self._settled, "unsettled_at": self._unsettled_at}
        about |= {"since": self._since, "surprised": int(self._is_surprised)}
        return State.joined(wait=State(about=about), **parts)

    def put_back(self, state: State) -> None:
        """Go on waiting."""
        wait = state.part("wait")
        self.waited, self._settled = wait.whole("waited"), wait.whole("settled", most=MOST_PATIENCE - 1)
        self._unsettled_at = wait.whole("unsettled_at")
        self._since, self._is_surprised = wait.whole("since"), bool(wait.whole("surprised", most=1))
        self._known = read_belief(state.part("known")) if state.has("known") else None

    def is_due(self, belief: Belief, n_steps: int) -> bool:
        """Return whether it is time, after one more step."""
        self.waited += 1
        if self._known is not None and len(belief.target) > len(self._known.target):
            self._settled = 0
        if self._settled == 0:
            self._unsettled_at = n_steps
        return self.waited >= max(self.every, (1 + self._settled) * self.growth * n_steps)

    def is_prompted(self, *, surprised: bool) -> bool:
        """Return whether it is time for a brief refit, after one more step that surprised or did not."""
        self._since += 1
        self._is_surprised |= surprised
        return self._is_surprised and 0 < self.prompt <= self._since

    def refitted(self, belief: Belief, *, brief: bool) -> None:
        """Take in what a refit made of the map."""
        self._since, self._is_surprised = 0, False
        if brief:
            return
        self.waited = 0
        if self.patient:
            self._settled = min(self._settled + 1, MOST_PATIENCE - 1) if self._is_known(belief) else 0
            self._known = belief

    def _is_known(self, belief: Belief) -> bool:
        known = self._known
        return known is not None and (
            np.array_equal(belief.start, known.start) and np.array_equal(belief.target, known.target)
        )
