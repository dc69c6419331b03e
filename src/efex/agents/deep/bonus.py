"""BonusDqn: a deep Q network that is rewarded for what it did rarely."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from efex.agents.deep.dqn import Dqn
from efex.agents.deep.qlearner import Settings, room_for
from efex.symbols import Symbol


class BonusDqn(Dqn):
    """Exploration-bonus DQN (Bellemare et al. 2016): taking action a in state s is worth 1/√N(s, a), nothing else is.

    N counts how often that was done, exactly, since observations are symbols; a replayed step is worth what it would be
    worth now, so that no bonus outlives its novelty. What was never done is not in the replay, so the network knows
    nothing good of it: that it is tried at all is left to `epsilon`, the share of random actions.
    """

    def __init__(self, *, epsilon: float = 0.2, settings: Settings | None = None, **recovery: Any) -> None:
        super().__init__(epsilon=epsilon, settings=settings, **recovery)

    def prepare(self, n_actions: int, *, rng: np.random.Generator, symbols: Iterable[Symbol] = ()) -> None:
        """Get ready for an environment: nothing was done in it yet."""
        super().prepare(n_actions, rng=rng, symbols=symbols)
        self._counts = np.zeros((0, n_actions), np.int64)

    def moved(self) -> None:
        """Count what was done."""
        n_symbols = len(self.experience.alphabet)
        if n_symbols > len(self._counts):
            self._counts = np.pad(self._counts, ((0, room_for(n_symbols) - len(self._counts)), (0, 0)))
        self._counts[self.experience.observations[-2], self.experience.actions[-2]] += 1

    def rewards(self, states: NDArray[np.int32], actions: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return 1/√N(s, a), of steps that were taken."""
        return 1 / np.sqrt(self._counts[states, actions], dtype=np.float64)
