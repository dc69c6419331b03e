"""Engines: where cases are played. All cores of this machine, or a Dask or Ray cluster, through joblib's backends."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, get_args

import joblib  # type: ignore[import-untyped]

from efex.errors import EfexError, InvalidArgumentError

Engine = Literal["local", "dask", "ray"]


def check_engine(engine: str) -> None:
    """Raise InvalidArgumentError unless `engine` is one there is."""
    if engine not in get_args(Engine):
        raise InvalidArgumentError(f"engine must be one of {', '.join(get_args(Engine))}, not {engine!r}")


def unordered(
    work: Callable[[Any], Any],
    items: Sequence[Any],
    *,
    jobs: int = -1,
    engine: Engine = "local",
    address: str | None = None,
) -> Iterator[Any]:
    """Yield work(item) for every item as they finish; a cluster works at its own size, whatever `jobs`."""
    with _backend(engine, address) as backend:
        # A cluster is told of all there is; what is queued here when it is stopped has to be thrown away.
        ahead = "2*n_jobs" if engine == "local" else "all"
        options = {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": ahead}
        results = joblib.Parallel(n_jobs=jobs, backend=backend, **options)(joblib.delayed(work)(item) for item in items)
        try:
            for result in results:  # noqa: UP028, `yield from` would close it, and warn
                yield result
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib's advice to those who stop early
                results.close()


def _backend(engine: Engine, address: str | None) -> contextlib.AbstractContextManager[Any]:
    """Return a context that gives joblib's backend for the engine, connected to the cluster."""
    check_engine(engine)
    if engine == "local":
        return contextlib.nullcontext()
    try:
        module = importlib.import_module(f"efex.study.{engine}_engine")
    except ImportError as error:
        raise EfexError(f"engine {engine!r} needs pip install efex[{engine}]: {error}") from error
    connected: contextlib.AbstractContextManager[Any] = module.connected(address)
    return connected
