"""Leaves: kernels that make no array, and so need not count who holds those they are given.

Numba counts the holders of every array of a named tuple anew in every call, by atomic operations. In kernels that are
called for every pair of places, or every step of a walk, that took three quarters of the time.
"""

import functools

from numba import njit

leaf = functools.partial(njit, cache=True, _nrt=False)
"""Compile a function that makes no array, only views."""
