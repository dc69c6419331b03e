"""Aliasing: which observation every node shows."""

import numpy as np
from numpy.typing import NDArray


def alias(n_nodes: int, unique_fraction: float, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return what every node shows: one of round(unique_fraction * n_nodes) observations, at least one.

    Every observation is shown by at least one node, at random; the remaining nodes draw uniformly among all.
    """
    n_observations = max(1, round(unique_fraction * n_nodes))
    drawn = rng.integers(n_observations, size=n_nodes - n_observations)
    return rng.permutation(np.concatenate([np.arange(n_observations), drawn]))
