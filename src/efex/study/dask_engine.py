"""The Dask engine: joblib's backend, mended where it would wait for ever."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from distributed import Client  # type: ignore[import-not-found, unused-ignore]
from joblib._dask import DaskDistributedBackend  # type: ignore[import-untyped]


class DaskBackend(DaskDistributedBackend):  # type: ignore[misc]
    """joblib's backend for Dask, which also hears of the tasks that Dask gives up."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return how many work, two at least: where one does, joblib would play here instead of there."""
        return max(2, int(super().effective_n_jobs(n_jobs)))

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], None]) -> Future[Any]:
        """Send a task; where it killed its workers joblib is told of that too, and not only of results."""
        future: Future[Any] = super().submit(func, callback)
        future.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
        return future


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[DaskBackend]:
    """Give the backend of the cluster at that address, or of one started here; what is left there ends with it."""
    with Client(address) if address else Client(threads_per_worker=1) as client:
        yield DaskBackend(client=client)
