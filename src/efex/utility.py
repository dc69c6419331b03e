"""The information an action is expected to bring about a Dirichlet row, in closed form, in nats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.special import psi


def entropy_deficit(concentration: ArrayLike) -> NDArray[np.float64]:
    """Return h(b) = ψ(b + 1) - log b, the building block of the information gain; it falls from ∞ towards 0."""
    b = np.asarray(concentration, np.float64)
    return psi(b + 1) - np.log(b)


def information_gain(concentration: ArrayLike) -> NDArray[np.float64]:
    """Return u = Σ_j (b_j / B) h(b_j) - h(B) along the last axis, B = Σ_j b_j, theory (11).

    It is the expected KL divergence from the belief Dirichlet(b) to the belief after one more transition, and the
    mutual information between the row and the next state.
    """
    b = np.asarray(concentration, np.float64)
    total = b.sum(axis=-1)
    return np.asarray((b * entropy_deficit(b)).sum(axis=-1) / total - entropy_deficit(total))
