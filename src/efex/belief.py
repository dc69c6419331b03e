"""Belief: for every (state, action) pair, sparse counts of where it led, under a symmetric Dirichlet prior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from efex.errors import InvalidArgumentError
from efex.kernels import planning as kernel
from efex.utility import entropy_deficit, information_gain


@dataclass(frozen=True, eq=False, repr=False)
class Belief:
    """Dirichlet(c + prior) for every row; row `state * n_actions + action` lists its counted targets.

    Where an action has led to different states chance rules, so what was tried there is valued under `by_chance`. A
    closed pair (unavailable, or beyond the end of an episode) holds nothing to learn and is never chosen. Where all
    pairs are closed episodes end, and the first row counts where the next ones began. A row with a `doubt` was never
    walked: what it counts is foreseen, and that is how likely it is wrong. Being `thrown` to a target counts, but does
    not teach where the action leads.
    """

    n_states: int
    n_actions: int
    prior: float
    by_chance: float
    start: NDArray[np.int64]
    target: NDArray[np.int64]
    count: NDArray[np.int64]
    closed: NDArray[np.bool_]
    doubt: NDArray[np.float64] | None = None
    thrown: NDArray[np.bool_] | None = None

    @classmethod
    def empty(cls, n_states: int, n_actions: int, *, prior: float, by_chance: float | None = None) -> Belief:
        """Return the belief before anything was seen; `by_chance` is the same as `prior` if None."""
        by_chance = prior if by_chance is None else by_chance
        for name, value in (("prior", prior), ("by_chance", by_chance)):
            if not (np.isfinite(value) and value > 0):
                raise InvalidArgumentError(f"{name} must be a number above 0, not {value}")
        none = np.zeros(0, np.int64)
        rows = n_states * n_actions
        start, closed = np.zeros(rows + 1, np.int64), np.zeros(rows, bool)
        return cls(n_states, n_actions, prior, by_chance, start, none, none, closed)

    def updated(
        self,
        source: NDArray[np.int64],
        action: NDArray[np.int64],
        target: NDArray[np.int64],
        change: NDArray[np.int64] | None = None,
    ) -> Belief:
        """Return the belief after these steps; `change` is +1 for a step that enters and -1 for one that leaves."""
        keys = (source * self.n_actions + action) * self.n_states + target
        order = np.argsort(keys, kind="stable")
        amount = np.ones(len(keys), np.int64) if change is None else change
        start, targets, counts = kernel.merge_counts(
            self.start, self.target, self.count, keys[order], amount[order], self.n_states
        )
        return replace(self, start=start, target=targets, count=counts, thrown=None)

    def closing(self, closed: NDArray[np.bool_]) -> Belief:
        """Return the belief with these rows closed."""
        return replace(self, closed=closed)

    @property
    def is_complete(self) -> bool:
        """Whether every action that is not closed was tried at every state that was reached."""
        return not self.has_untried.any()

    @property
    def has_untried(self) -> NDArray[np.bool_]:
        """Whether each state was reached and has an action that is not closed and was not tried there."""
        rows = self.totals.reshape(-1, self.n_actions)
        reached = np.asarray(rows.sum(axis=1) > 0)
        reached[self.target] = True
        untried = (rows == 0) & ~self.closed.reshape(rows.shape)
        return np.asarray(reached & untried.any(axis=1))

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """How often every row was walked."""
        sums = np.concatenate([[0], np.cumsum(self.count)])
        return np.asarray(sums[self.start[1:]] - sums[self.start[:-1]])

    @cached_property
    def scale(self) -> NDArray[np.float64]:
        """1 / B of every row, B = n + prior * n_states."""
        return 1.0 / (self.totals.astype(np.float64) + self.prior * self.n_states)

    @cached_property
    def information_gain(self) -> NDArray[np.float64]:
        """u(z, a) of every row in nats, theory (11)."""
        if self.thrown is not None:
            return self._not_thrown.information_gain
        gain = self._gain(self.prior)
        if self.by_chance != self.prior and (random := self._random).any():
            gain = np.where(random, self._gain(self.by_chance), gain)
        if self.doubt is not None:
            untried = information_gain(np.full(self.n_states, self.prior))
            gain = np.where(self.doubt > 0, self.doubt * untried + (1 - self.doubt) * gain, gain)
        return np.where(self.closed, 0.0, gain)

    @property
    def _not_thrown(self) -> Belief:
        """The belief that counts only where actions led."""
        left = ~np.asarray(self.thrown)
        start = np.concatenate([[0], np.cumsum(left)])[self.start]
        return replace(self, start=start, target=self.target[left], count=self.count[left], thrown=None)

    @property
    def _random(self) -> NDArray[np.bool_]:
        """The rows that were tried where some action has led to different states."""
        outcomes = np.diff(self.start).reshape(-1, self.n_actions)
        return np.asarray(((outcomes > 1).any(axis=1, keepdims=True) & (outcomes > 0)).ravel())

    def _gain(self, prior: float) -> NDArray[np.float64]:
        """Return u(z, a) of every row under a prior; counts are whole numbers, so h comes from two small tables."""
        most = int(self.totals.max(initial=0))
        counts = np.arange(most + 1, dtype=np.float64)
        of_entry = entropy_deficit(counts + prior)
        of_total = entropy_deficit(counts + prior * self.n_states)
        return np.asarray(
            kernel.row_information(self.start, self.count, self.totals, of_entry, of_total, prior, self.n_states)
        )

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of every counted target."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def targets(self, state: int, action: int) -> NDArray[np.int64]:
        """Return the states to which an action was seen to lead from a state."""
        row = state * self.n_actions + action
        return self.target[self.start[row] : self.start[row + 1]]

    def mean(self, state: int, action: int) -> NDArray[np.float64]:
        """Return E[p(next state | state, action)] over all states."""
        row = state * self.n_actions + action
        entries = slice(self.start[row], self.start[row + 1])
        concentration = np.full(self.n_states, self.prior)
        concentration[self.target[entries]] += self.count[entries]
        return np.asarray(concentration / concentration.sum())
