"""Running a study: play what the store does not hold, write every result as it comes, survive what dies."""

from __future__ import annotations

import contextlib
import functools
import random
import traceback
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from efex.errors import EfexError, InvalidArgumentError
from efex.study.case import Case
from efex.study.engines import Engine, check_engine, unordered
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


def play_safely(case: Case, how: Callable[[Case], Any] | None = None) -> Played:
    """Play a case, in the study's own way if it has one; where it raises, its traceback is the result.

    Ctrl-C is no failure of the case; a compiled kernel that it reaches raises SystemError because of it.
    """
    try:
        return Played(case, "done", (how or play)(case))
    except (Exception, SystemExit) as error:
        if _is_interrupted(error):
            raise KeyboardInterrupt from error
        return Played(case, "failed", traceback.format_exc())


def _is_interrupted(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


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
    check_engine(engine)
    if jobs == 0:
        raise InvalidArgumentError("jobs must be a number of processes, or -1 for all cores, not 0")
    failed: list[Case] = []
    cases = pending(study, store)
    with contextlib.closing(_all(cases, study.play, jobs=jobs, engine=engine, address=address)) as all_played:
        for played in all_played:
            store.put(played.case, played.outcome, played.result, version)
            told(played)
            if played.outcome == "failed":
                failed.append(played.case)
    return failed


def pending(study: Study, store: Store) -> list[Case]:
    """Return the cases that are not done as they are now, marks included."""
    done = {case.id for case, _ in store.results(study.cases)}
    return [case for case in study.cases if case.id not in done]


def _all(cases: list[Case], how: Callable[[Case], Any] | None, **where: Any) -> Generator[Played, None, None]:
    """Yield every case played, submitting the rest again where the engine breaks.

    They are submitted in another order then, lest a case that kills its worker stand before all others every time.
    """
    left, breaks = {case.id: case for case in cases}, 0
    work = play_safely if how is None else functools.partial(play_safely, how=how)
    while left:
        try:
            for played in unordered(work, list(left.values()), **where):
                del left[played.case.id]
                breaks = 0
                yield played
            if left:
                raise RuntimeError(f"{len(left)} cases did not come back")
        except EfexError:
            raise
        except Exception as error:
            breaks += 1
            if breaks == PATIENCE:
                raise EfexError(f"the engine broke {PATIENCE} times without finishing a case: {error!r}") from error
            left = dict(random.Random(len(left)).sample(list(left.items()), len(left)))
