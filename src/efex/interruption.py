"""Being told to stop, by Ctrl-C or by the system, takes effect between steps: nothing is left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def interrupts_between_steps() -> Iterator[Callable[[], None]]:
    """Give a function to call between steps, which raises if the process was told to stop since.

    Ctrl-C raises KeyboardInterrupt, another signal SystemExit; the second one is obeyed at once. Signals reach the main
    thread alone, so elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    told: list[int] = []

    def stop() -> None:
        raise KeyboardInterrupt if told[0] == signal.SIGINT else SystemExit(128 + told[0])

    def remember(number: int, frame: FrameType | None) -> None:
        told.append(number)
        if len(told) > 1:
            stop()

    def check() -> None:
        if told:
            stop()

    before = {number: signal.signal(number, remember) for number in STOPPING}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
