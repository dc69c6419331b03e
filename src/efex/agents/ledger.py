"""Ledger: the belief that follows from decoding all experience, kept true while the last episode goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.agents.arrivals import Edge
from efex.agents.base import Mask
from efex.agents.closing import shut_pairs
from efex.agents.curiosity import Prior, curiosity_for
from efex.agents.foresight import reckoning_of, tells_places
from efex.agents.tracker import Tracker
from efex.agents.whereabouts import Whereabouts
from efex.arrays import State
from efex.belief import Belief
from efex.errors import StorageError
from efex.experience import Experience
from efex.model.cscg import Model
from efex.parts import keep_belief, read_belief


class Ledger:
    """Decodes everything once with `model`; from then on every step decodes the episode under way again.

    `belief` counts the decoded steps of the whole experience at any time, and `state` is where the decoding ends.
    `is_reckoned` says whether coordinates told places apart when all was decoded.
    """

    def __init__(
        self, model: Model, experience: Experience, masks: Mapping[int, Mask], *, prior: Prior, reckon: bool = False
    ) -> None:
        self.model = model
        self._experience, self._masks = experience, masks
        self._path = model.decode(experience).path
        empty = Belief.empty(model.layout.n_states, experience.n_actions, prior=1.0)
        t = np.flatnonzero(experience.actions >= 0)
        steps = empty.updated(self._path[t], experience.actions[t].astype(np.int64), self._path[t + 1])
        where = reckoning_of(steps, experience, self._path) if reckon else None
        self.is_reckoned = where is not None and tells_places(steps, where)
        astray = where.astray if where is not None and where.is_trusted else 0.5
        weighs = curiosity_for(prior, self._path, model.layout, astray=astray)
        steps = replace(steps, prior=weighs.prior, by_chance=weighs.by_chance)
        ends = experience.terminated
        self.belief = self._restarting(steps, ends[ends + 1 < len(self._path)])
        self._changed = 0
        self._follow()
        self.end()

    def keep(self) -> State:
        """Return what was counted and along which path, to be kept."""
        arrays = {"path": self._path[: self._begin], "anchor": self._anchor}
        about = {"changed": self._changed, "reckoned": int(self.is_reckoned)}
        return State.joined(path=State(arrays, about), counted=keep_belief(self._counted))

    @classmethod
    def kept(cls, state: State, model: Model, experience: Experience, masks: Mapping[int, Mask]) -> Ledger:
        """Return the ledger that was kept; only the episode under way is decoded again."""
        ledger = cls.__new__(cls)
        ledger.model, ledger._experience, ledger._masks = model, experience, masks
        n_states = model.layout.n_states
        part, begin = state.part("path"), int(experience.offsets[-2])
        path = part.array("path", np.int64, (begin,), least=0, below=n_states)
        ledger._path = np.append(path, np.zeros(len(experience) - begin, np.int64))
        ledger.belief = read_belief(state.part("counted"), most=len(experience))
        if (ledger.belief.n_states, ledger.belief.n_actions) != (n_states, experience.n_actions):
            raise StorageError("what was counted must be of the model's states")
        ledger._follow()
        ledger._anchor = part.array("anchor", np.int64, least=0, below=n_states)
        if not 1 <= len(ledger._anchor) <= len(experience) - begin:
            raise StorageError("anchor must be of the episode under way")
        # Checkpoints that do not tell are of agents who do not ask.
        ledger.is_reckoned = "reckoned" in part.about and bool(part.whole("reckoned", most=1))
        ledger._changed = part.whole("changed", most=len(ledger._anchor))
        ledger._recount()
        return ledger

    def begin(self) -> None:
        """Take in that an episode began."""
        self._path = np.append(self.path, 0)
        self._follow()
        self._path = self.path
        end = self._experience.terminated[-1:]
        if len(end) and end[0] == len(self._path) - 2:
            self.belief = self._counted = self._restarting(self.belief, end)

    def step(self) -> bool:
        """Take in that a step was taken: decode the episode again and count it as it is decoded now.

        Return whether it was a surprise: what is seen was never seen after it, from where the walk seemed to be.
        """
        action, observation = int(self._experience.actions[-2]), int(self._experience.observations[-1])
        before = self.belief.targets(self.state, action)
        self._changed = min(self._changed, self._tracker.step(action, observation))
        self._recount()
        return not bool((self.model.layout.observation[before] == observation).any())

    def _recount(self) -> None:
        """Count the episode under way as it is decoded now, where that differs from how it was counted."""
        lo = max(self._changed - 1, 0)
        old, new = self._anchor[lo:], self._tracker.path[lo:]
        actions = self._experience.actions[self._begin + lo : -1].astype(np.int64)
        gone = max(len(old) - 1, 0)
        self.belief = self._counted.updated(
            np.concatenate([old[:-1], new[:-1]]),
            np.concatenate([actions[:gone], actions]),
            np.concatenate([old[1:], new[1:]]),
            np.repeat([-1, 1], [gone, len(new) - 1]),
        )

    def end(self) -> None:
        """Close the pairs that hold nothing to learn: where episodes terminated, and what is not available."""
        closed = shut_pairs(self.path, self.model.layout, self._experience, self._masks)
        self.belief, self._counted = (belief.closing(closed.ravel()) for belief in (self.belief, self._counted))

    @property
    def path(self) -> NDArray[np.int64]:
        """The state at every observation, as it is decoded now."""
        return np.concatenate([self._path[: self._begin], self._tracker.path])

    @property
    def state(self) -> int:
        """The state at the last observation."""
        return int(self._tracker.path[-1])

    @property
    def whereabouts(self) -> Whereabouts:
        """The states where the walk may be now."""
        return self._tracker.whereabouts

    @property
    def last_edge(self) -> Edge | None:
        """The edge walked last, as it is decoded now, None where the episode has just begun."""
        path = self._tracker.path
        if len(path) < 2:
            return None
        return Edge(int(path[-2]), int(self._experience.actions[-2]), int(path[-1]))

    def _follow(self) -> None:
        """Track the episode that is under way from its beginning."""
        self._begin = int(self._experience.offsets[-2])
        observations, actions = self._experience.observations, self._experience.actions
        self._tracker = Tracker(self.model, observations[self._begin :], actions[self._begin : -1])
        self._anchor = self._tracker.path.copy()
        self._changed = len(self._anchor)
        self._counted = self.belief

    def _restarting(self, belief: Belief, ends: NDArray[np.int64]) -> Belief:
        """Return the belief that also counts how the end of an episode led to the beginning of the next.

        Where actions were taken, too, an episode ended by chance, and its first row counts those.
        """
        acted = self._path[np.flatnonzero(self._experience.actions[: len(self._path)] >= 0)]
        ends = ends[~np.isin(self._path[ends], acted)]
        return belief.updated(self._path[ends], np.zeros(len(ends), np.int64), self._path[ends + 1])
