"""What a running study shows: how many cases are done, which failed, and how long the rest may take."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from efex.study.runner import Played


@contextlib.contextmanager
def study_progress(name: str, cases: int, left: int) -> Iterator[Callable[[Played], None]]:
    """Show a bar for the cases that are left; yield what is to be told of every case played."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("left"), TimeRemainingColumn()) as bar:
        kept = f", {cases - left} already done" if left < cases else ""
        task = bar.add_task(f"{name}{kept}", total=left)

        def told(played: Played) -> None:
            if played.outcome == "failed":
                bar.console.print(f"failed: {played.case.id}")
            bar.advance(task)

        yield told
