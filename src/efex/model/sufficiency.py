"""Are there enough clones? A state that says everything makes the step before it irrelevant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.model.layout import CloneLayout

SIGMAS = 6.0
"""How far above its expectation the statistic must be before it is believed."""


def out_of_clones(layout: CloneLayout, experience: Experience, path: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the observations that use all their clones while history still predicts what follows them.

    Given a state and an action, the next state must not depend on the (state, action) before. The likelihood-ratio
    statistic of that dependence, summed over an observation's states, is compared with its degrees of freedom.
    """
    used = np.bincount(layout.observation[np.unique(path)], minlength=layout.n_observations)
    full = used == np.asarray(layout.sizes)
    t = np.flatnonzero((experience.actions[:-1] >= 0) & (experience.actions[1:] >= 0)) + 1
    n_states, n_actions = layout.n_states, experience.n_actions
    before = path[t - 1] * n_actions + experience.actions[t - 1]
    row = path[t] * n_actions + experience.actions[t]
    statistic, freedom = _dependence(before, row, path[t + 1], n_states, n_states * n_actions)
    shown = np.repeat(layout.observation, n_actions)
    excess = np.bincount(shown, statistic - freedom, minlength=layout.n_observations)
    spread = np.sqrt(2 * np.bincount(shown, freedom, minlength=layout.n_observations))
    return np.flatnonzero(full & (excess > SIGMAS * np.maximum(spread, 1)))


def _dependence(
    before: NDArray[np.int64], row: NDArray[np.int64], after: NDArray[np.int64], n_after: int, n_rows: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the likelihood-ratio statistic between `before` and `after` within every row, and its freedom."""
    by_before, at_before, n_before = _tally(row * n_rows + before)
    by_after, at_after, n_next = _tally(row * n_after + after)
    _, at_both, n_both = _tally(at_before * len(by_after) + at_after)
    first = np.unique(at_both, return_index=True)[1]
    n_row = np.bincount(row, minlength=n_rows)
    expected = n_before[at_before[first]] * n_next[at_after[first]] / n_row[row[first]]
    terms = 2 * n_both * np.log(n_both / expected)
    statistic = np.bincount(row[first], terms, minlength=n_rows).astype(np.float64)
    kinds_before = np.bincount(by_before // n_rows, minlength=n_rows)
    kinds_after = np.bincount(by_after // n_after, minlength=n_rows)
    freedom = np.maximum(kinds_before - 1, 0) * np.maximum(kinds_after - 1, 0)
    return statistic, freedom.astype(np.float64)


def _tally(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    values, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return values, inverse.ravel(), counts
