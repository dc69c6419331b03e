"""Ctrl-C between steps: an interrupt waits until nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_between_steps() -> Iterator[Callable[[], None]]:
    """Give a function to call between steps, which raises KeyboardInterrupt if Ctrl-C came since; a second Ctrl-C
    interrupts at once. Signals reach the main thread alone, so elsewhere nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    pending = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal pending
        if pending:
            raise KeyboardInterrupt
        pending = True

    def check() -> None:
        if pending:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
