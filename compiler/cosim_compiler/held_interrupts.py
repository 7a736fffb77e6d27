"""Ctrl-C and SIGTERM wait until a function is compiled.

LLVM frees a module that is linked into another, and llvmlite records that it is gone a moment later. If the
exception of a signal comes in between, llvmlite frees the module a second time, which ends the process.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """A block at whose end the handler of a first Ctrl-C or SIGTERM is called; a second one does not wait."""
    held_back: list[tuple[signal.Signals, FrameType | None]] = []
    before: dict[signal.Signals, Callable[[int, FrameType | None], Any]] = {}

    def hold_back(number: int, frame: FrameType | None) -> None:
        if held_back:
            before[signal.Signals(number)](number, frame)
        else:
            held_back.append((signal.Signals(number), frame))

    for number in (signal.SIGINT, signal.SIGTERM):
        handler = signal.getsignal(number)
        if callable(handler):
            before[number] = handler
            try:
                signal.signal(number, hold_back)
            except ValueError:  # not the main thread, the only one in which signals raise exceptions
                del before[number]
    try:
        yield
    finally:
        # Ctrl-C last, since it may raise as soon as it has its handler again
        for number, handler in reversed(before.items()):
            signal.signal(number, handler)
        for number, frame in held_back:
            before[number](number, frame)
