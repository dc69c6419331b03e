"""Ensemble: bootstrapped tables of transitions, and how much they disagree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from efex.special import entr


def disagreement(predictions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Jensen-Shannon divergence of `predictions[member, ..., target]` over its members, in nats.

    It is the entropy of the mean minus the mean of the entropies.
    """
    gap: NDArray[np.float64] = entr(predictions.mean(axis=0)).sum(axis=-1) - entr(predictions).sum(axis=-1).mean(axis=0)
    return np.maximum(gap, 0.0)


class Ensemble:
    """Tables that each count every step with a weight of their own, drawn from Exponential(1): a Bayesian bootstrap.

    Before a (state, action) was tried, each table leads from it to a state it guesses at random, as a net with random
    weights would; the guess weighs `prior` steps. There is always room for a state not yet seen. The tables are dense:
    members * states² * actions numbers.
    """

    def __init__(self, members: int, n_states: int, n_actions: int, *, prior: float, rng: np.random.Generator) -> None:
        self.prior = prior
        self.rng = rng
        self._weights = np.zeros((members, 0, n_actions, 0))
        self.make_room(n_states)

    def make_room(self, n_states: int) -> None:
        """Have room for more than `n_states` states; where there was not, all guesses are made anew."""
        members, room, n_actions, _ = self._weights.shape
        if n_states < room:
            return
        grown = max(n_states + 1, 2 * room)
        weights = np.zeros((members, grown, n_actions, grown))
        weights[:, :room, :, :room] = self._weights
        self._weights = weights
        self._guesses = self.rng.integers(grown, size=(members, grown, n_actions))
        predictions = self.predictions()
        self.utility = disagreement(predictions)
        self.cumulative = _cumulated(predictions)

    def add(self, state: int, action: int, target: int) -> None:
        """Take in that `action` led from `state` to `target`."""
        self._weights[:, state, action, target] += self.rng.exponential(size=len(self._weights))
        predictions = self.predictions((state, action))
        self.utility[state, action] = disagreement(predictions)
        self.cumulative[state, action] = _cumulated(predictions)

    def predictions(self, pairs: tuple[int, int] | tuple[()] = ()) -> NDArray[np.float64]:
        """Return the members' probabilities of the next state, of one (state, action) or of all."""
        at = (slice(None), *pairs)
        weights: NDArray[np.float64] = self._weights[at].copy()
        guesses = self._guesses[at][..., None]
        np.put_along_axis(weights, guesses, np.take_along_axis(weights, guesses, -1) + self.prior, -1)
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights


def _cumulated(predictions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cumulated mean prediction, ending in exactly 1."""
    cumulative: NDArray[np.float64] = predictions.mean(axis=0).cumsum(axis=-1)
    cumulative /= cumulative[..., -1:].copy()
    return cumulative
