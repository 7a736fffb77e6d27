"""Ctrl-C and SIGTERM at places where Python ignores exceptions."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

from cosim.simulation.interrupt import Terminated

WAIT = 0.02
"""Time until the interrupt is raised again, s: Python has then left the place."""


@contextlib.contextmanager
def repeating_lost_interrupts() -> Iterator[None]:
    """Raise `KeyboardInterrupt` again when Python ignored it.

    In a destructor or a callback of the garbage collector an exception is printed and forgotten, and the
    program goes on as if Ctrl-C had not been pressed; while modules are imported and functions are compiled
    this happens in one of some twenty cases.
    """
    before = sys.unraisablehook

    def hook(lost: Any) -> None:
        if lost.exc_type is not None and issubclass(lost.exc_type, KeyboardInterrupt):
            number = signal.SIGTERM if issubclass(lost.exc_type, Terminated) else signal.SIGINT
            again = threading.Timer(WAIT, _interrupt, [number])
            again.daemon = True
            again.start()
        else:
            before(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupt(number: signal.Signals) -> None:
    if hasattr(signal, "pthread_kill"):  # a signal also ends a sleep
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(number)
