"""Ctrl-C and SIGTERM between steps, not inside of them, and not while results are written."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps: enumerations take five times as long
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from types import FrameType
from typing import Any

from cosim.simulation.early_sigterm import terminate_early

SIGINT, SIGTERM = SIGNALS = int(signal.SIGINT), int(signal.SIGTERM)
_arrivals: list[list[tuple[float, int]]] = []
"""For each of the runs that hold signals back: when which has come."""


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
    arrived: list[tuple[float, int]] = []

    def hold_back(number: int, frame: FrameType | None) -> None:
        arrived.append((monotonic(), number))
        if len(arrived) > 1:
            check()

    def check() -> None:
        if arrived:
            raise _interrupt_of(arrived)

    replaced = {n: handler for n in SIGNALS if (handler := _signal.getsignal(n)) in HANDLERS}
    if not all(_set_handler(number, hold_back) for number in replaced) or not replaced:
        yield check
        return
    _arrivals.append(arrived)
    try:
        yield check
    finally:
        _arrivals.remove(arrived)
        for number, handler in replaced.items():
            _set_handler(number, handler)
    check()  # it came in the last step of all


@contextmanager
def answering_sigterm() -> Iterator[None]:
    """Answer SIGTERM as Ctrl-C: results so far are written, and helper processes are ended.

    Batch systems and service managers send it before they kill. A handler that is set already stays, but for
    that of a program that has just begun.
    """
    before = _signal.getsignal(SIGTERM)
    if before not in (_signal.SIG_DFL, terminate_early) or not _set_handler(SIGTERM, terminate):
        yield
        return
    try:
        yield
    finally:
        _set_handler(SIGTERM, before)


def seconds_interrupted() -> float:
    """How long a Ctrl-C or SIGTERM has been held back by `interrupt_between_steps`, s; 0 when none is.

    For what waits for others inside a step: it may give them a moment, and abort then (`held_interrupt`).
    """
    return max((monotonic() - arrived[0][0] for arrived in _arrivals if arrived), default=0.0)


def is_interrupted() -> bool:
    """Whether a Ctrl-C or SIGTERM is held back by `interrupt_between_steps`."""
    return any(_arrivals)


def waited_for_interrupt(seconds: float) -> bool:
    """Whether a Ctrl-C or SIGTERM is held back, or comes within so many seconds.

    For what was ended by another process: a signal that has ended that may be on its way here, too.
    """
    end = monotonic() + seconds
    while _arrivals and not seconds_interrupted() and monotonic() < end:
        sleep(seconds / 10.0)
    return seconds_interrupted() > 0.0


def held_interrupt() -> KeyboardInterrupt:
    """The error with which a waiting call aborts because of `seconds_interrupted`."""
    return _interrupt_of([arrival for arrived in _arrivals for arrival in arrived])


def _interrupt_of(arrived: list[tuple[float, int]]) -> KeyboardInterrupt:
    """The error for signals that have been held back."""
    terminated = any(number == SIGTERM for _, number in arrived)
    return Terminated("terminated") if terminated else KeyboardInterrupt()


@contextmanager
def interrupt_afterwards() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM until the end of the block, so that what it makes is whole."""
    arrived: list[tuple[float, int]] = []

    def hold_back(number: int, frame: FrameType | None) -> None:
        arrived.append((monotonic(), number))

    before = {n: handler for n in SIGNALS if (handler := _signal.getsignal(n)) in HANDLERS}
    replaced = [number for number in before if _set_handler(number, hold_back)]
    try:
        yield
    finally:
        for number in replaced:
            _set_handler(number, before[number])
    if arrived:
        raise _interrupt_of(arrived)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C while results so far are written: users press it twice."""
    before = {n: handler for n in SIGNALS if (handler := _signal.getsignal(n)) in HANDLERS or n == SIGINT}
    ignored = [n for n, handler in before.items() if handler is not None and _set_handler(n, _signal.SIG_IGN)]
    try:
        yield
    finally:
        for number in ignored:
            _set_handler(number, before[number])


def _set_handler(number: int, handler: Any) -> bool:
    """Set the handler of a signal; False where this thread may not.

    Other threads may not, nor may a Python that a program written in C has started in a thread of its
    own: there even `threading.main_thread` is of no help.
    """
    try:
        _signal.signal(number, handler)
    except ValueError:
        return False
    return True
