"""Being thrown: now and then actions lead to the same place from everywhere, which says nothing of where one was."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import throwing as kernel
from efex.kernels.transitions import count_steps


def thrown_entries(
    start: NDArray[np.int64], target: NDArray[np.int64], times: NDArray[np.number[Any]], *, n: int
) -> NDArray[np.bool_] | None:
    """Return which outcomes of rows are to be thrown, None where nothing throws.

    Row r led to `target[start[r]]` up to `start[r + 1]`, of n places, so many `times`. If most outcomes that are rare
    where they occur lead to the same place, and many do, those throw.
    """
    place = kernel.thrown_to(start, target, times, n)
    return None if place == kernel.NOWHERE else np.asarray(kernel.lead_rarely_to(place, start, target, times))


def unthrown(path: NDArray[np.int64], experience: Experience) -> NDArray[np.int32]:
    """Return the actions, but -1 where the step on a path was thrown, as if an episode had ended there."""
    n, n_actions = int(path.max(initial=-1)) + 1, experience.n_actions
    counted = count_steps(path, n, experience.actions, experience.offsets, n_actions)
    start = counted[-1][: n * n_actions + 1]
    source, action, target, visits = (each[: start[-1]] for each in counted[:-1])
    entries = thrown_entries(start, target, visits, n=n)
    if entries is None:
        return experience.actions
    t, actions = np.flatnonzero(experience.actions >= 0), experience.actions.copy()
    steps = (path[t] * n_actions + actions[t]) * n + path[t + 1]
    actions[t[np.isin(steps, ((source * n_actions + action) * n + target)[entries])]] = -1
    return actions
