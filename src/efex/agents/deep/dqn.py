"""Dqn: what the deep baselines share. Remember every step, learn Q values by replay, take the best action."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from efex.agents.base import Mask
from efex.agents.deep.qlearner import Batch, QLearner, Settings
from efex.agents.deep.replay import Replay
from efex.agents.random import Walker
from efex.checks import repetition
from efex.symbols import Symbol


class Dqn(Walker):
    """Takes every observation for a state, so it suits environments without aliasing.

    Before every action it learns from steps drawn from all that it took, as `settings` say; then it does what the
    followed head thinks best, or with probability `epsilon` anything. A subclass says what a step is worth and which
    heads learn from it. `recover` takes `clones` and what else a RandomAgent takes.
    """

    heads = 1
    prior = 0.0

    def __init__(self, *, epsilon: float, settings: Settings | None, **recovery: Any) -> None:
        super().__init__(**recovery)
        self.epsilon = repetition("epsilon", epsilon)
        self.settings = Settings() if settings is None else settings

    def prepare(self, n_actions: int, *, rng: np.random.Generator, symbols: Iterable[Symbol] = ()) -> None:
        """Get ready for an environment: forget everything about any other."""
        super().prepare(n_actions, rng=rng, symbols=symbols)
        self.head = 0
        self._last_masks: dict[int, Mask] = {}
        self.replay = Replay(n_actions, heads=self.heads)
        self.learner = QLearner(
            len(self.experience.alphabet),
            n_actions,
            heads=self.heads,
            prior=self.prior,
            settings=self.settings,
            rng=rng,
        )

    @abstractmethod
    def rewards(self, states: NDArray[np.int32], actions: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return what taking these actions in these states is worth now."""

    def learners(self) -> NDArray[np.bool_]:
        """Return which heads learn from the step just taken: all."""
        return np.ones(self.heads, bool)

    def choose(self, mask: Mask | None) -> int:
        """Return the action that the followed head thinks best, or a random one with probability epsilon."""
        state = int(self.experience.observations[-1])
        if mask is not None:
            self._last_masks[state] = mask
        self._remember(mask)
        self.learner.make_room(len(self.experience.alphabet))
        if len(self.replay):
            self.learner.update(self._batch())
        if self.rng.random() < self.epsilon:
            return self.random_action(mask)
        values = self.learner.values(state)[self.head]
        return int(np.argmax(values if mask is None else np.where(mask, values, -np.inf)))

    def finished(self) -> None:
        """Remember the episode's last step; where it led, there are the actions that were there before."""
        self._remember(self._last_masks.get(int(self.experience.observations[-1])))

    def _remember(self, mask: Mask | None) -> None:
        """Store the step that led here, if one did, with the actions that there are here."""
        states, actions = self.experience.observations, self.experience.actions
        if len(states) < 2 or actions[-2] < 0:
            return
        self.replay.add(
            int(states[-2]),
            int(actions[-2]),
            int(states[-1]),
            ended=len(states) - 1 in self.experience.terminated[-1:],
            allowed=np.ones(self.experience.n_actions, bool) if mask is None else mask,
            heads=self.learners(),
        )

    def _batch(self) -> Batch:
        rows = self.replay.draw((self.settings.updates, self.settings.batch), rng=self.rng)
        rewards = self.rewards(rows["state"], rows["action"]).astype(np.float32)
        return Batch(
            rows["state"], rows["action"], rewards, rows["after"], rows["ended"], rows["allowed"], rows["heads"]
        )
