"""Engines: where cases are played. All cores of this machine, or a Dask or Ray cluster, through joblib."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, get_args

import joblib  # type: ignore[import-untyped]

from efex.errors import EfexError, InvalidArgumentError

Engine = Literal["local", "dask", "ray"]


def check_engine(engine: str) -> None:
    """Raise InvalidArgumentError unless `engine` is one there is."""
    if engine not in get_args(Engine):
        raise InvalidArgumentError(f"engine must be one of {', '.join(get_args(Engine))}, not {engine!r}")


@contextlib.contextmanager
def engine_context(engine: Engine, address: str | None) -> Iterator[None]:
    """Make joblib send its work to the engine."""
    check_engine(engine)
    if engine == "local":
        yield
        return
    with _missing(engine), _dask(address) if engine == "dask" else _ray(address):
        yield


@contextlib.contextmanager
def _missing(engine: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise EfexError(f"engine {engine!r} needs pip install efex[{engine}]: {error}") from error


@contextlib.contextmanager
def _dask(address: str | None) -> Iterator[None]:
    from distributed import Client  # type: ignore[import-not-found, unused-ignore]

    with Client(address) as client, joblib.parallel_config(backend="dask", client=client):
        yield


@contextlib.contextmanager
def _ray(address: str | None) -> Iterator[None]:
    import ray  # type: ignore[import-not-found, unused-ignore]
    from ray.util.joblib import register_ray  # type: ignore[import-not-found, unused-ignore]

    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    register_ray()
    with joblib.parallel_config(backend="ray"):
        yield


def unordered(work: Callable[[Any], Any], items: Sequence[Any], *, jobs: int) -> Iterator[Any]:
    """Yield work(item) for every item as they finish."""
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="all")
    yield from parallel(joblib.delayed(work)(item) for item in items)
