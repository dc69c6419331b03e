"""Threads: as many as the work is worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba

ALONE = 10_000
"""Observations up to which one thread does it alone: waking others, and waiting for them where cores are busy, would
take longer than the work."""


@contextmanager
def threads_for(observations: int) -> Iterator[None]:
    """Have kernels use one thread for so few observations, or else as many as they have."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1 if observations <= ALONE else threads)
    try:
        yield
    finally:
        numba.set_num_threads(threads)
