"""What a running study shows: how many cases are done, which failed, and how long the rest may take."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from efex.study.runner import Played


@contextlib.contextmanager
def study_progress(name: str, cases: int, left: int) -> Iterator[Callable[[Played], None]]:
    """Show a bar for the cases that are left; yield what is to be told of every case played.

    Why a case failed is said at once, the last line of its traceback, where none before it failed so.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Cases may take minutes each: the time left goes by all of them.
    with Progress(*columns, TextColumn("left"), TimeRemainingColumn(), speed_estimate_period=math.inf) as bar:
        kept = f", {cases - left} already done" if left < cases else ""
        task = bar.add_task(f"{name}{kept}", total=left)
        told_before: set[str] = set()

        def told(played: Played) -> None:
            if played.outcome == "failed":
                reason = str(played.result).strip().splitlines()[-1]
                why = "" if reason in told_before else f": {reason}"
                bar.console.print(f"failed: {played.case.id}{why}", markup=False, soft_wrap=True)
                told_before.add(reason)
            bar.advance(task)

        yield told
