"""Ctrl-C between steps, not inside of them, and not while results are written."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import Any

_waiting: list[list[float]] = []
"""For each of the runs that hold Ctrl-C back, when it was pressed."""


@contextmanager
def interrupt_between_steps() -> Iterator[Callable[[], None]]:
    """Hold a first Ctrl-C back until the function that this gives is called; a second one comes through."""
    seen: list[float] = []

    def note(number: int, frame: FrameType | None) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(monotonic())

    def check() -> None:
        if seen:
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or not _handle(note):
        yield check
        return
    _waiting.append(seen)
    try:
        yield check
    finally:
        _waiting.remove(seen)
        _handle(signal.default_int_handler)
    check()  # it came in the last step of all


def seconds_interrupted() -> float:
    """How long a Ctrl-C has been held back by `interrupt_between_steps`, s; 0 when none is.

    For what waits for others inside a step: it may give them a moment, and give up then.
    """
    return max((monotonic() - seen[0] for seen in _waiting if seen), default=0.0)


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
    """Set the handler of Ctrl-C; False where this thread may not.

    Other threads may not, nor may a Python that a program written in C has started in a thread of its
    own: there even `threading.main_thread` is of no help.
    """
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        return False
    return True
