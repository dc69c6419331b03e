"""Running a study: play what the store does not hold, write every result as it comes, survive what dies."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from efex.errors import EfexError
from efex.study.case import Case
from efex.study.engines import Engine, engine_context, unordered
from efex.study.play import play
from efex.study.store import Store
from efex.study.study import Study

PATIENCE = 3
"""Times in a row that an engine may break without finishing a single case."""


class Played(NamedTuple):
    """A case, whether it is done or failed, and its result or traceback."""

    case: Case
    outcome: str
    result: Any


def play_safely(case: Case) -> Played:
    """Play a case; where it raises, its traceback is the result."""
    try:
        return Played(case, "done", play(case))
    except Exception:
        return Played(case, "failed", traceback.format_exc())


def run_study(
    study: Study,
    store: Store,
    *,
    version: str,
    jobs: int = -1,
    engine: Engine = "local",
    address: str | None = None,
    told: Callable[[Played], object] = lambda played: None,
) -> list[Case]:
    """Play the cases that the store does not hold, or holds as failed; return those that failed.

    Workers return results and this process alone writes them, one transaction each. Where an engine breaks, what the
    store still misses is submitted again.
    """
    failed: list[Case] = []
    with engine_context(engine, address):
        for played in _all(pending(study, store), jobs):
            store.put(played.case, played.outcome, played.result, version)
            told(played)
            if played.outcome == "failed":
                failed.append(played.case)
    return failed


def pending(study: Study, store: Store) -> list[Case]:
    """Return the cases that are not done."""
    outcomes = store.outcomes()
    return [case for case in study.cases if outcomes.get(case.id) != "done"]


def _all(cases: list[Case], jobs: int) -> Iterator[Played]:
    """Yield every case played, submitting the rest again where the engine breaks."""
    left, breaks = {case.id: case for case in cases}, 0
    while left:
        try:
            for played in unordered(play_safely, list(left.values()), jobs=jobs):
                del left[played.case.id]
                breaks = 0
                yield played
        except GeneratorExit:
            raise
        except Exception as error:
            breaks += 1
            if breaks == PATIENCE:
                raise EfexError(f"the engine broke {PATIENCE} times without finishing a case: {error!r}") from error
