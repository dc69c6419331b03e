"""Transitions: the counted steps of a path between places, each with what it weighed beforehand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience

STICKINESS = 0.5
"""How likely an action is to stay, before anything is known of it: bumping alike is a weak sign of being one place."""

PLACE = 2.0
"""By how many nats a map with one place more is preferred, where that is not learned: a duplicate costs steps, two
taken for one hide some."""


class Transitions(NamedTuple):
    """Entries sorted by row, row = source * n_actions + action; the last place stands before every episode.

    An entry's prior weight is `base`, and `sticky` more where it stays; those of a row sum to at most `weight`. The
    entries into a place are those of `by_target` from `into[place]` on.
    """

    n_actions: int
    observation: NDArray[np.int64]
    source: NDArray[np.int64]
    action: NDArray[np.int64]
    target: NDArray[np.int64]
    visits: NDArray[np.float64]
    base: NDArray[np.float64]
    sticky: float
    weight: float
    row_start: NDArray[np.int64]
    into: NDArray[np.int64]
    by_target: NDArray[np.int64]


class Places(NamedTuple):
    """The distinct states of a path: their names, what they show, and which of them is where on the path."""

    names: NDArray[np.int64]
    observation: NDArray[np.int64]
    at: NDArray[np.int64]


def places_of(path: NDArray[np.int64], experience: Experience) -> Places:
    """Return the distinct states of a path, numbered from 0."""
    names, first, at = np.unique(path, return_index=True, return_inverse=True)
    return Places(names, experience.observations[first].astype(np.int64), at)


def count_transitions(places: Places, experience: Experience, *, weight: float) -> Transitions:
    """Return the counted steps between places, a row's prior weighing `weight` in all, theory (10)."""
    n_actions, n, at = experience.n_actions, len(places.names), places.at
    t = np.flatnonzero(experience.actions >= 0)
    begins = at[experience.offsets[:-1]]
    source = np.concatenate([at[t], np.full(len(begins), n)])
    action = np.concatenate([experience.actions[t].astype(np.int64), np.zeros(len(begins), np.int64)])
    keys, visits = np.unique(
        (source * n_actions + action) * n + np.concatenate([at[t + 1], begins]), return_counts=True
    )
    row, target = np.divmod(keys, n)
    source, action = np.divmod(row, n_actions)
    observation = np.append(places.observation, places.observation.max(initial=0) + 1)
    chance = _chances(observation[source] * n_actions + action, target, places.observation)
    by_target = np.argsort(target, kind="stable")
    return Transitions(
        n_actions,
        observation,
        source,
        action,
        target,
        visits.astype(np.float64),
        weight * (1 - STICKINESS) * chance,
        weight * STICKINESS,
        weight,
        np.searchsorted(row, np.arange((n + 1) * n_actions + 1)),
        np.searchsorted(target[by_target], np.arange(n + 2)),
        by_target,
    )


def _chances(pair: NDArray[np.int64], target: NDArray[np.int64], observation: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how likely every entry's target is, knowing only what was seen before and done: `pair`.

    What such a pair led to elsewhere says which observation to expect, and all places that show it are alike.
    """
    n = int(observation.max(initial=0)) + 1
    seen = observation[target]
    share = np.bincount(seen, minlength=n) / len(seen)
    _, triple, alike = np.unique(pair * n + seen, return_inverse=True, return_counts=True)
    _, pair, tries = np.unique(pair, return_inverse=True, return_counts=True)
    chance: NDArray[np.float64] = (alike[triple] + share[seen]) / (tries[pair] + 1)
    return chance / np.bincount(observation, minlength=n)[seen]
