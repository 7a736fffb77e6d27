"""Protection from foreign code in this process: settings are restored, and an ``exit`` is explained.

First the settings of the process (folder, signals, floating-point environment), then rounding after each
call, then calls of ``exit``.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

from cosim.kit import ResourceLimits, black_box

FAULT_SIGNALS = tuple(
    int(getattr(signal, name)) for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL") if hasattr(signal, name)
)
"""Signals of faults: the run-time environments of Java, .NET and Go need their own handlers of these."""
OTHER_SIGNALS = tuple(
    int(getattr(signal, name))
    for name in (
        *("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGALRM", "SIGCHLD", "SIGABRT"),
        *("SIGUSR1", "SIGUSR2"),
    )
    if hasattr(signal, name)
)
SIGNALS = (*OTHER_SIGNALS, *FAULT_SIGNALS)
POINTER_BYTES = ctypes.sizeof(ctypes.c_void_p)
process_lock = threading.RLock()
"""Held while an FMU is loaded, instantiated or freed, when it may change settings of the process: they are
set back to what they were before, which works for one FMU at a time only."""
LARGEST_ACTION, LARGEST_ENVIRONMENT = 256, 512
"""More bytes than a ``struct sigaction`` and an ``fenv_t`` have on any system."""


class ProcessSettings:
    """The folder, floating-point environment, signal handlers and blocked signals of the moment."""

    def __init__(self) -> None:
        self._folder = ""
        with suppress(OSError):  # it may have been removed: then there is nothing to come back to
            self._folder = os.getcwd()
        self._environment = (ctypes.c_char * LARGEST_ENVIRONMENT)()
        if (libm := floating_point_functions()) is not None:
            libm.fegetenv(self._environment)
        self._actions = _actions()
        self._blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ()) if os.name != "nt" else set()

    def set_back(self, library: str = "", only_its_own: bool = False) -> None:
        """Restore the settings.

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
        if (libm := floating_point_functions()) is not None:
            libm.fesetenv(self._environment)
        now, libc = _actions(), _library(None)
        for i, number in enumerate(SIGNALS if libc is not None else ()):
            begin = i * LARGEST_ACTION
            # the handler is the first member; what the C library leaves behind the others is not defined
            if now[begin : begin + POINTER_BYTES] == self._actions[begin : begin + POINTER_BYTES]:
                continue
            may_be_foreign = only_its_own or number in FAULT_SIGNALS
            if not (library and may_be_foreign) or _belongs_to(now[begin : begin + POINTER_BYTES], library):
                libc.sigaction(number, self._actions[begin : begin + LARGEST_ACTION], None)
        if not only_its_own and os.name != "nt":
            signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked)
        if self._folder and not only_its_own:
            with suppress(OSError):
                os.chdir(self._folder)


@contextmanager
def undisturbed(library: Callable[[], str] = str) -> Iterator[None]:
    """Restore the settings of the process at the end, whatever is called inside.

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


@contextmanager
def same_folder() -> Iterator[None]:
    """Restore folder, resource limits and mask of new files at the end, whatever FMUs change.

    Results are written next, with all three. A folder that has been removed meanwhile cannot be restored.
    """
    folder, limits = "", ResourceLimits()
    with process_lock, suppress(OSError):
        mask = os.umask(0o077)  # there is no other way to read it
        os.umask(mask)
        folder = os.getcwd()
    try:
        yield
    finally:
        with process_lock, suppress(OSError):
            limits.restore()
            os.umask(mask)
            os.chdir(folder)


def _actions() -> Any:
    """The action for each signal, as the C library describes it, one after the other."""
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


def floating_point_functions() -> Any:
    """The library with ``fegetenv`` and ``fesetenv``; None where there is none."""
    return _library("libm.so.6" if sys.platform == "linux" else None)


@functools.cache
def _library(name: str | None) -> Any:
    """The C library, or another one; None where there is none that follows POSIX."""
    if os.name == "nt":
        return None
    try:
        library = ctypes.CDLL(name)
    except OSError:
        library = ctypes.CDLL(None)
    if name is None:
        library.sigaction.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    return library


SUMS = (1.0, 2.0**-53, 2.0**-53 + 2.0**-54, 1.5 * 2.0**-1022, 2.0**-1022)
"""The first two add up to 1, the first and the third to more, the others differ by a subnormal number."""
first_environment = (ctypes.c_char * LARGEST_ENVIRONMENT)()
"""How sums were rounded before any FMU was loaded."""
if (_functions := floating_point_functions()) is not None:
    _functions.fegetenv(first_environment)


def rounds_as_before() -> bool:
    """Whether sums are rounded as before an FMU was called: see `rounding`."""
    one, half, more, normal, least_normal = SUMS
    return one + half == one and one + more != one and normal - least_normal != 0.0


def round_as_before() -> None:
    """Round as before an FMU was called."""
    if not rounds_as_before() and (functions := floating_point_functions()) is not None:
        functions.fesetenv(first_environment)


# An FMU that calls ``exit`` does not end the program without a word.
#
# The C library calls what was registered with it before a process exits. Where Python has not begun to end
# and a library of an FMU is loaded, the FMU has called ``exit``. There is no way back into Python's frames
# from there: what has to be said and saved is done on the spot (`last_words`), and the process ends with
# `EXIT_STATUS`.

EXIT_STATUS = 1
calling: list[tuple[Any, str] | None] = [None]
"""The instance that is being called, and the function; None outside of calls from Python."""
loaded: WeakSet[Any] = WeakSet()
"""Libraries of FMUs."""
living: WeakSet[Any] = WeakSet()
"""Instances that are made and not yet freed."""
MOST_FRAMES = 256
"""Innermost frames of the stack, among which the FMU's are searched."""
_callees = itertools.count(1)
_guarded_process: list[int] = []
"""The id of this process: a process that code of an FMU has forked may call ``exit``."""
_exit_actions: list[Callable[[str], None]] = []
"""What `last_words` has registered."""
_kept_for_c: list[Any] = []
"""Objects whose addresses the C library has; empty until ``exit`` is watched."""
_python_ends: list[bool] = []
"""Not empty when Python itself ends the process."""


@contextmanager
def last_words(say: Callable[[str], None]) -> Iterator[None]:
    """Run an action when foreign code is about to end the process; the last registered one is first.

    Parameters
    ----------
    say : callable
        Called with a sentence that says why. What it raises is lost.
    """
    _exit_actions.append(say)
    try:
        yield
    finally:
        _exit_actions.remove(say)


@contextmanager
def in_library(name: str, what: str) -> Iterator[None]:
    """Report to the watching process, if any, that a library works outside of calls."""
    if black_box.box is None:
        yield
        return
    callee = next(_callees)
    black_box.box.send_note(f"callee {callee}", (name, [what]))
    before, black_box.status_words[black_box.CALL] = (
        black_box.status_words[black_box.CALL],
        black_box.call_number(callee, 0),
    )
    try:
        yield
    finally:
        black_box.status_words[black_box.CALL] = before


def call_numbers(instance: Any) -> dict[str, int]:
    """The number in the black box while a function of an instance is called, by its name."""
    functions = [*instance.table.signatures]
    callee = next(_callees)
    if black_box.box is not None:
        names = [instance.name_of(function) for function in functions]
        black_box.box.send_note(f"callee {callee}", (instance.name, names))
    return {function: black_box.call_number(callee, i) for i, function in enumerate(functions)}


def end_process(why: str) -> None:
    """Run all registered actions, report the reason, and end the process.

    One that is watched leaves all of this to the process that watches it.
    """
    if black_box.box is not None:
        black_box.box.send_note("said", why)
        os._exit(EXIT_STATUS)
    for say in reversed(_exit_actions):
        with suppress(Exception):
            say(why)
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(Exception):
        print(why, file=sys.stderr, flush=True)
    os._exit(EXIT_STATUS)


def watch_exit() -> None:
    """Notice from now on when code of an FMU calls ``exit``; with the GNU C library alone."""
    if _kept_for_c or sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "gnu_get_libc_version"):
        return
    notice = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_notice)
    token = ctypes.create_string_buffer(1)  # its address stands for a library: by it `notice` is taken back
    handle = ctypes.c_void_p(ctypes.addressof(token))
    _kept_for_c.extend((notice, token))
    libc.__cxa_atexit(notice, None, handle)
    _note_process()
    os.register_at_fork(after_in_child=_note_process)

    def take_back() -> None:
        """Take the notice back, since Python ends: none of its functions may be called later."""
        _python_ends.append(True)
        libc.__cxa_finalize(handle)

    atexit.register(take_back)


class Symbol(ctypes.Structure):
    """Dl_info of ``dlfcn.h``."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _call_in_stack() -> tuple[Any, str] | None:
    """The library, and the function of FMI in it, that this thread is in: compiled code has called it."""
    libc = ctypes.CDLL(None)
    if not (hasattr(libc, "backtrace") and hasattr(libc, "dladdr")):
        return None
    of_files = {os.fsencode(library.path): library for library in loaded}
    frames, symbol = (ctypes.c_void_p * MOST_FRAMES)(), Symbol()
    for address in frames[: libc.backtrace(frames, MOST_FRAMES)]:
        # a return address lies behind the call: where that ends a function, already in the next one
        if not address or not libc.dladdr(ctypes.c_void_p(address - 1), ctypes.byref(symbol)):
            continue
        library = of_files.get(symbol.file)
        if library is None or symbol.name is None:
            continue
        for function in library.table.signatures:
            if library.symbol(function).encode() == symbol.name:
                return library, library.table.prefix + function
    return None


def _who() -> str:
    """The FMU whose code calls ``exit``, if it is known."""
    now = calling[0]
    if now is not None:
        return f"{now[0].name}: {now[0].name_of(now[1])}: the FMU"
    with suppress(Exception):
        caller = _call_in_stack()
        if caller is not None:
            library, function = caller
            names = sorted(instance.name for instance in living if instance.library is library)
            return "".join(f"{part}: " for part in (" or ".join(names), function) if part) + "the FMU"
    return black_box.UNNAMED_FMU


def _note_process() -> None:
    """Guard the present process, and no other one."""
    _guarded_process[:] = [os.getpid()]


def _notice(unused: int | None) -> None:
    """End the process with a sentence, if code of an FMU has called ``exit``."""
    if not _python_ends and loaded and _guarded_process == [os.getpid()]:
        end_process(f"{_who()} called exit(), which would have ended this program")
