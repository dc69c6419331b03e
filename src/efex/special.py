"""Special functions, from SciPy when first called: loading them takes a quarter of the time that `import efex` does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def psi(x: NDArray[np.floating] | float) -> NDArray[np.float64]:
    """Return the digamma function of `x`, exact for the smallest counts too."""
    from scipy import special

    return np.asarray(special.psi(np.asarray(x, np.float64)))


def entr(x: NDArray[np.floating] | float) -> NDArray[np.float64]:
    """Return -x log x, zero at zero."""
    from scipy import special

    return np.asarray(special.entr(np.asarray(x, np.float64)))


def gammaln(x: NDArray[np.floating] | float) -> NDArray[np.float64]:
    """Return the logarithm of the gamma function of `x`."""
    from scipy import special

    return np.asarray(special.gammaln(np.asarray(x, np.float64)))
