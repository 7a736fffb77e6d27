"""Ctrl-C and SIGTERM between steps, not inside of them, and not while results are written."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps: enumerations take five times as long
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import Any

SIGNALS = int(signal.SIGINT), int(signal.SIGTERM)
_waiting: list[list[tuple[float, int]]] = []
"""For each of the runs that hold signals back, when which came."""


class Terminated(KeyboardInterrupt):
    """SIGTERM has come: it is answered as Ctrl-C is, wherever `terminate` is its handler."""


def terminate(number: int, frame: FrameType | None) -> None:
    """The handler of SIGTERM that commands set; a program that runs cosim may set it, too."""
    raise Terminated("terminated")


HANDLERS = signal.default_int_handler, terminate
"""Signals with these are held back; what other handlers do is their own business."""


@contextmanager
def interrupt_between_steps() -> Iterator[Callable[[], None]]:
    """Hold a first Ctrl-C back until the function that this gives is called; a second one comes through."""
    seen: list[tuple[float, int]] = []

    def note(number: int, frame: FrameType | None) -> None:
        seen.append((monotonic(), number))
        if len(seen) > 1:
            check()

    def check() -> None:
        if seen:
            raise _error(seen)

    before = {n: handler for n in SIGNALS if (handler := _signal.getsignal(n)) in HANDLERS}
    if not all(_handle(number, note) for number in before) or not before:
        yield check
        return
    _waiting.append(seen)
    try:
        yield check
    finally:
        _waiting.remove(seen)
        for number, handler in before.items():
            _handle(number, handler)
    check()  # it came in the last step of all


@contextmanager
def answering_sigterm() -> Iterator[None]:
    """Answer SIGTERM as Ctrl-C: results so far are written, and helper processes are ended.

    Batch systems and service managers send it before they kill. A handler that is set already stays.
    """
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL or not _handle(signal.SIGTERM, terminate):
        yield
        return
    try:
        yield
    finally:
        _handle(signal.SIGTERM, signal.SIG_DFL)


def seconds_interrupted() -> float:
    """How long a Ctrl-C or SIGTERM has been held back by `interrupt_between_steps`, s; 0 when none is.

    For what waits for others inside a step: it may give them a moment, and give up then (`held_interrupt`).
    """
    return max((monotonic() - seen[0][0] for seen in _waiting if seen), default=0.0)


def held_interrupt() -> KeyboardInterrupt:
    """The error for what waits and gives up because of `seconds_interrupted`."""
    return _error([one for seen in _waiting for one in seen])


def _error(seen: list[tuple[float, int]]) -> KeyboardInterrupt:
    """Of signals that have been held back."""
    terminated = any(number == signal.SIGTERM for _, number in seen)
    return Terminated("terminated") if terminated else KeyboardInterrupt()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C while results so far are written: who is impatient presses it twice."""
    before = {n: signal.getsignal(n) for n in SIGNALS}
    before = {n: handler for n, handler in before.items() if n == signal.SIGINT or handler in HANDLERS}
    changed = [n for n, handler in before.items() if handler is not None and _handle(n, signal.SIG_IGN)]
    try:
        yield
    finally:
        for number in changed:
            _handle(number, before[number])


def _handle(number: int, handler: Any) -> bool:
    """Set the handler of a signal; False where this thread may not.

    Other threads may not, nor may a Python that a program written in C has started in a thread of its
    own: there even `threading.main_thread` is of no help.
    """
    try:
        (signal.signal if isinstance(handler, int) else _signal.signal)(number, handler)
    except ValueError:
        return False
    return True
