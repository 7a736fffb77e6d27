"""What foreign code changes of the process is set back."""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cosim_fmi.binding.exit_guard import Symbol

FAULTS = tuple(
    int(getattr(signal, name)) for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL") if hasattr(signal, name)
)
"""Signals of faults: run-time environments (of Java, .NET, Go) need their own handlers of these."""
OTHERS = tuple(
    int(getattr(signal, name))
    for name in (
        *("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGALRM", "SIGCHLD", "SIGABRT"),
        *("SIGUSR1", "SIGUSR2"),
    )
    if hasattr(signal, name)
)
SIGNALS = (*OTHERS, *FAULTS)
POINTER = ctypes.sizeof(ctypes.c_void_p)
process_lock = threading.RLock()
"""Held while FMUs are loaded, begin and end: what they change of the process is set back to what it was
before, which it would not be with another one in between."""
LARGEST_ACTION, LARGEST_ENVIRONMENT = 256, 512
"""More bytes than a ``struct sigaction`` and an ``fenv_t`` have on any system."""


class ProcessSettings:
    """The present folder, floating-point environment and signal handlers at the moment when this is made."""

    def __init__(self) -> None:
        self._folder = ""
        with suppress(OSError):  # it may have been removed: then there is nothing to come back to
            self._folder = os.getcwd()
        self._environment = (ctypes.c_char * LARGEST_ENVIRONMENT)()
        if (math := _math()) is not None:
            math.fegetenv(self._environment)
        self._actions = _actions()

    def set_back(self, library: str = "", only_its_own: bool = False) -> None:
        """As they were.

        A handler of a fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL) is left in place where it belongs to another
        library than the FMU's own: the run-time environment that it has started needs it.

        Parameters
        ----------
        library : str
            Path of the FMU's library; "" sets all back.
        only_its_own : bool
            Of the signal handlers only those that belong to the library: others may have been set since by
            this program itself. The folder stays, too.
        """
        if (math := _math()) is not None:
            math.fesetenv(self._environment)
        now, libc = _actions(), _library(None)
        for i, number in enumerate(SIGNALS if libc is not None else ()):
            begin = i * LARGEST_ACTION
            # the handler is the first member; what the C library leaves behind the others is not defined
            if now[begin : begin + POINTER] == self._actions[begin : begin + POINTER]:
                continue
            asks = only_its_own or number in FAULTS
            if not (library and asks) or _belongs_to(now[begin : begin + POINTER], library):
                libc.sigaction(number, self._actions[begin : begin + LARGEST_ACTION], None)
        if self._folder and not only_its_own:
            with suppress(OSError):
                os.chdir(self._folder)


@contextmanager
def undisturbed(library: Callable[[], str] = str) -> Iterator[None]:
    """Come back to the settings of the process, whatever is called inside.

    Parameters
    ----------
    library : callable
        Gives the path of the FMU's library, asked for at the end: see `ProcessSettings.set_back`.
    """
    with process_lock:
        settings = ProcessSettings()
        try:
            yield
        finally:
            settings.set_back(library())


def _actions() -> Any:
    """What is done about each signal, as the C library describes it, one after the other."""
    libc, actions = _library(None), (ctypes.c_char * (LARGEST_ACTION * len(SIGNALS)))()
    if libc is not None:
        sigaction, place = libc.sigaction, ctypes.addressof(actions)
        for number in SIGNALS:
            sigaction(number, None, place)
            place += LARGEST_ACTION
    return actions


def _belongs_to(handler: bytes, library: str) -> bool:
    """Whether a handler is in this library."""
    address = int.from_bytes(handler, sys.byteorder)
    info, libc = Symbol(), _library(None)
    if address <= 1 or libc is None:  # SIG_DFL, SIG_IGN
        return True
    if not libc.dladdr(ctypes.c_void_p(address), ctypes.byref(info)):
        return True  # it has been unloaded
    return bool(os.path.realpath(os.fsdecode(info.file or b"")) == os.path.realpath(library))


def _math() -> Any:
    return _library("libm.so.6" if sys.platform == "linux" else None)


@functools.cache
def _library(name: str | None) -> Any:
    """The C library, or another one; None where there is none that follows POSIX."""
    if os.name == "nt":
        return None
    try:
        found = ctypes.CDLL(name)
    except OSError:
        found = ctypes.CDLL(None)
    if name is None:
        found.sigaction.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    return found
