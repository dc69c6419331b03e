"""Learner: the model of an agent, refitted as experience grows, with clones for what it comes to see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.arrays import State
from efex.errors import StorageError
from efex.experience import Experience
from efex.model.allocation import Allocation
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import explanation
from efex.model.methods import Method
from efex.model.pseudocount import Pseudocount, per_target
from efex.model.restarts import Refit, Restart
from efex.parts import keep_model, read_model

GROWTH_SLACK = 0.01
"""By what share more clones may worsen the explanation: what they are for is often still to be seen."""

GROWTH_PATIENCE = 1.25
"""When more clones did not pay, they are tried again after this many times the experience."""


class Learner:
    """Holds the model, and the one from which the next refit starts: after EM alone, or without chance."""

    def __init__(
        self,
        experience: Experience,
        allocation: Allocation,
        *,
        pseudocount: Pseudocount,
        method: Method,
        restart: Restart,
        rng: np.random.Generator,
    ) -> None:
        self._experience, self._allocation, self._pseudocount = experience, allocation, pseudocount
        self._method: Method = method
        self._restart, self._rng = restart, rng
        self._turn = self._grow_after = 0
        layout = allocation.first(experience)
        alpha = per_target(pseudocount, layout.n_states)
        self.model = self._soft = Model.random(experience, layout, pseudocount=alpha, rng=rng)

    def begin_with(self, model: Model) -> None:
        """Hold a model that was made elsewhere, of the same experience."""
        self.model = self._soft = model

    @property
    def layout(self) -> CloneLayout:
        """The clones of the model."""
        return self.model.layout

    @property
    def is_short(self) -> bool:
        """Whether a symbol was seen that has no clones yet."""
        return len(self._experience.alphabet) > self.layout.n_observations

    def make_room(self) -> None:
        """Give clones to symbols seen for the first time; states already there keep their numbers."""
        layout = self._allocation.extended(self.layout, self._experience)
        alpha, heavier = per_target(self._pseudocount, layout.n_states), self.model.pseudocount / self._soft.pseudocount
        soft = replace(self._soft.carried(self._experience, layout), pseudocount=alpha)
        if self._soft is self.model:
            self._soft = self.model = soft
        else:
            model = self.model.carried(self._experience, layout)
            self._soft, self.model = soft, replace(model, pseudocount=alpha * heavier)

    def refit(self, path: NDArray[np.int64], *, brief: bool = False) -> None:
        """Learn from all experience, last decoded as `path`; take more clones unless they explain it clearly worse.

        Where something likelier was found for which there were too few, it is learned once more with as many.

        A `brief` refit takes the steps in and looks no further, where the restart can do so.
        """
        self._turn += 1
        if self._restart.takes_spare_clones and self._soft is not self.model:
            # What is left to chance needs few clones; what may be found from where the next refit starts needs more.
            path = self._soft.carried(self._experience, self.layout).decode(self._experience).path
        larger = self._allocation.grown(self.layout, path, self._experience)
        if self._restart.takes_spare_clones:
            learned = self._learn(larger, brief=brief)
            if (wider := self._allocation.widened(larger, learned.wanted, self._experience)) != larger:
                learned = self._learn(wider, brief=brief)
            self._soft, self.model = learned.soft, learned.model
            return
        learned = self._learn(self.layout)
        if larger != self.layout and len(self._experience) >= self._grow_after:
            grown = self._learn(larger)
            if self._score(grown) >= (1 + GROWTH_SLACK) * self._score(learned):
                learned = grown
            else:
                self._grow_after = int(GROWTH_PATIENCE * len(self._experience))
        self._soft, self.model = learned.soft, learned.model

    def keep(self) -> State:
        """Return the models and the turn, to be kept."""
        parts = {"model": keep_model(self.model)}
        if self._soft is not self.model:
            parts["soft"] = keep_model(self._soft)
        return State.joined(count=State(about={"turn": self._turn, "grow_after": self._grow_after}), **parts)

    def put_back(self, state: State) -> None:
        """Hold the models that were kept."""
        count, n_actions = state.part("count"), self._experience.n_actions
        self._turn, self._grow_after = count.whole("turn"), count.whole("grow_after")
        self.model = read_model(state.part("model"), n_actions=n_actions)
        self._soft = read_model(state.part("soft"), n_actions=n_actions) if state.has("soft") else self.model
        if not self.layout.n_observations == self._soft.layout.n_observations == len(self._experience.alphabet):
            raise StorageError("the models must have clones for every symbol")

    def _learn(self, layout: CloneLayout, *, brief: bool = False) -> Refit:
        last = replace(self._soft, pseudocount=per_target(self._pseudocount, layout.n_states))
        restart = (self._restart.brief if brief else None) or self._restart
        return restart(last, self._experience, layout, method=self._method, turn=self._turn, rng=self._rng)

    def _score(self, learned: Refit) -> float:
        return explanation(learned.model, self._experience)
