"""The Ray engine: a joblib backend of Ray's tasks. Ray's own backend deals cases out in turn, also to busy workers."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import ray  # type: ignore[import-not-found, unused-ignore]
from joblib.parallel import ParallelBackendBase  # type: ignore[import-untyped]

PATIENCE = 2.0
"""How many seconds tasks that were cancelled have to end."""


@ray.remote
def _call(work: Callable[[], Any]) -> Any:
    return work()


class RayBackend(ParallelBackendBase):  # type: ignore[misc]
    """Every task goes to a worker that is free; Ray itself tries those again whose worker died, a few times."""

    supports_retrieve_callback = True

    def __init__(self) -> None:
        super().__init__()
        self._tasks: list[Any] = []

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return how many work, two at least: where one does, joblib would play here instead of there."""
        return max(2, int(ray.cluster_resources().get("CPU", 0)))

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], None]) -> Future[Any]:
        """Send a task, and tell joblib when it is done."""
        task = _call.remote(func)
        self._tasks.append(task)
        # Ray's own future knows its task: joblib would hold on to it for longer than we are connected.
        future: Future[Any] = Future()
        future.add_done_callback(callback)
        task.future().add_done_callback(functools.partial(_hand_on, future))
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """Return what came of a task."""
        return out.result()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Cancel what was sent."""
        for task in self._tasks:
            ray.cancel(task, force=True)

    def forget(self) -> None:
        """Let go of every task, once it ended: Ray ends a process in which one is let go after the connection."""
        if self._tasks:
            ray.wait(self._tasks, num_returns=len(self._tasks), timeout=PATIENCE, fetch_local=False)
        self._tasks.clear()
        gc.collect()


def _hand_on(future: Future[Any], done: Future[Any]) -> None:
    """Give `future` what came of `done`."""
    error = done.exception()
    if error is None:
        future.set_result(done.result())
    else:
        future.set_exception(error)


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[RayBackend]:
    """Give the backend of the cluster at that address, of the one this process is connected to, or of one started."""
    ours = not ray.is_initialized()
    if ours:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    backend = RayBackend()
    try:
        yield backend
    finally:
        backend.forget()
        if ours:
            ray.shutdown()
