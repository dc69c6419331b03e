"""The marginal likelihood of a decoded path: what decides between two explanations of the same experience."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.model.cscg import Model
from efex.special import gammaln


def marginal_likelihood(model: Model, experience: Experience) -> float:
    """Return the log-probability of the model's decoded path with every row's transitions integrated out, theory (10).

    The prior of a row is Dirichlet with the model's pseudocount for the whole row, shared by the states in use. So
    states without need cost, clones that nobody uses do not, and models of different layouts can be compared.
    """
    path: NDArray[np.int64] = model.decode(experience).path
    states, used = np.unique(path, return_inverse=True)
    t = np.flatnonzero(experience.actions >= 0)
    n, total = len(states), model.pseudocount * model.layout.n_states
    row = used[t] * model.n_actions + experience.actions[t]
    _, counts = np.unique(row * n + used[t + 1], return_counts=True)
    _, totals = np.unique(row, return_counts=True)
    entries = (gammaln(counts + total / n) - gammaln(total / n)).sum()
    return float(entries + (gammaln(total) - gammaln(totals + total)).sum())
