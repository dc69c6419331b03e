"""Slip: a basic action that repeats a geometric number of times."""

import numpy as np
import scipy.sparse as sp


def slipped(base: sp.csr_array, slip: float) -> sp.csr_array:
    """Return the exact transition matrix of an action that repeats k times with P(k) = (1 - p) p^(k-1).

    With B the matrix of one repetition and p the slip, the series (1 - p) Σ_k p^(k-1) B^k sums to
    (1 - p) (I - p B)^-1 B, and the inverse is the product of I + p^(2^j) B^(2^j) over j = 0, 1, 2, ...
    """
    if slip == 0:
        return base
    # Factors are multiplied until p^(2^j) is zero in floating point. Only positive numbers are added, so that
    # every entry keeps its relative precision, and no bit depends on the number of threads.
    weight, power, total = slip, base, base
    while weight > 0:
        total = total + weight * (power @ total)
        weight, power = weight * weight, _stochastic(power @ power)
    return _stochastic(total)


def _stochastic(matrix: sp.csr_array) -> sp.csr_array:
    """Return the matrix with its rows, proportional to probabilities, made to sum to one."""
    matrix.eliminate_zeros()
    matrix.sort_indices()
    matrix.data /= np.repeat(np.asarray(matrix.sum(axis=1)).ravel(), np.diff(matrix.indptr))
    return matrix
