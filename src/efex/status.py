"""Status: one line that says what is being done, where nobody knows how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from efex import kernels


@contextmanager
def status_line(*, enabled: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that shows what is being done: on a line that goes away, or on lines where there is no terminal.

    >>> with status_line(enabled=True) as say:
    ...     say("learning from 400 steps")
    learning from 400 steps
    """
    if not enabled:
        yield lambda text: None
        return
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        yield lambda text: console.print(text, highlight=False)
        return
    with console.status(f"starting {first_wait()}") as status:
        yield status.update


def first_wait() -> str:
    """Return why a first run is slow to start, nothing where kernels have been compiled before."""
    compiled = Path(kernels.__file__).with_name("__pycache__").glob("*.nbi")
    return "" if any(compiled) else "(a first run compiles for half a minute)"
