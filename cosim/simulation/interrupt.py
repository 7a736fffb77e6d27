"""Ctrl-C between steps, not inside of them, and not while results are written."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def interrupt_between_steps() -> Iterator[Callable[[], None]]:
    """Hold a first Ctrl-C back until the function that this gives is called; a second one comes through."""
    seen: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    def check() -> None:
        if seen:
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or not _handle(note):
        yield check
        return
    try:
        yield check
    finally:
        _handle(signal.default_int_handler)
    check()  # it came in the last step of all


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C while results so far are written: who is impatient presses it twice."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or not _handle(signal.SIG_IGN):
        yield
        return
    try:
        yield
    finally:
        _handle(before)


def _handle(handler: Any) -> bool:
    """Set the handler of Ctrl-C; False where only somebody else may.

    Other threads may not, nor may a Python that a program written in C has started in a thread of its
    own: there even `threading.main_thread` is of no help.
    """
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        return False
    return True
