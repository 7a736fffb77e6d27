"""An FMU that calls ``exit`` does not end the program without a word.

The C library calls what was registered with it before a process exits; where Python has not begun to end,
and a library
of an FMU is loaded, the FMU has called it. There is no way back into Python's frames from there: what has
to be said and saved is done on the spot (`last_words`), and the process ends with status 1.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

from cosim.kit import black_box

STATUS = 1
calling: list[tuple[Any, str] | None] = [None]
"""The instance that is being called, and the function; None outside of calls from Python."""
loaded: WeakSet[Any] = WeakSet()
"""Libraries of FMUs."""
living: WeakSet[Any] = WeakSet()
"""Instances that are made and not yet freed."""
FRAMES = 256
"""Frames of the stack that are looked at; those of the FMU are among the innermost."""
_callees = itertools.count(1)
_said: list[Callable[[str], None]] = []
_kept: list[Any] = []
_is_ours: list[bool] = []


@contextmanager
def last_words(say: Callable[[str], None]) -> Iterator[None]:
    """Have something done when the process is about to be ended by others; the last one that came is first.

    Parameters
    ----------
    say : callable
        Called with a sentence that says why. What it raises is lost.
    """
    _said.append(say)
    try:
        yield
    finally:
        _said.remove(say)


@contextmanager
def in_library(name: str, what: str) -> Iterator[None]:
    """Tell the process that watches this one, if any, that a library does something outside of calls."""
    if black_box.box is None:
        yield
        return
    callee = next(_callees)
    black_box.box.note(f"callee {callee}", (name, [what]))
    before, black_box.words[black_box.CALL] = (
        black_box.words[black_box.CALL],
        black_box.call_number(callee, 0),
    )
    try:
        yield
    finally:
        black_box.words[black_box.CALL] = before


def call_numbers(instance: Any) -> dict[str, int]:
    """What stands in the black box while a function of an instance is called, by its name."""
    functions = [*instance.table.signatures]
    callee = next(_callees)
    if black_box.box is not None:
        names = [instance.name_of(function) for function in functions]
        black_box.box.note(f"callee {callee}", (instance.name, names))
    return {function: black_box.call_number(callee, i) for i, function in enumerate(functions)}


def end_process(why: str) -> None:
    """Have everything done that is registered, say why, and end the process.

    One that is watched leaves all of this to the process that watches it.
    """
    if black_box.box is not None:
        black_box.box.note("said", why)
        os._exit(STATUS)
    for say in reversed(_said):
        with suppress(Exception):
            say(why)
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(Exception):
        print(why, file=sys.stderr, flush=True)
    os._exit(STATUS)


def watch_exit() -> None:
    """Notice from now on when code of an FMU calls ``exit``; with the GNU C library alone."""
    if _kept or sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "gnu_get_libc_version"):
        return
    notice = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_notice)
    token = ctypes.create_string_buffer(1)  # its address stands for a library, so that it can be taken back
    handle = ctypes.c_void_p(ctypes.addressof(token))
    _kept.extend((notice, token))
    libc.__cxa_atexit(notice, None, handle)

    def take_back() -> None:
        """Python ends: nothing of it may be called later on."""
        _is_ours.append(True)
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
    frames, symbol = (ctypes.c_void_p * FRAMES)(), Symbol()
    for address in frames[: libc.backtrace(frames, FRAMES)]:
        # a return address lies behind its call, which may be the last thing in its function
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
    """Whose code calls ``exit``, as far as that is known."""
    now = calling[0]
    if now is not None:
        return f"{now[0].name}: {now[0].name_of(now[1])}: the FMU"
    with suppress(Exception):
        found = _call_in_stack()
        if found is not None:
            library, function = found
            names = sorted(instance.name for instance in living if instance.library is library)
            return "".join(f"{part}: " for part in (" or ".join(names), function) if part) + "the FMU"
    return "an FMU"


def _notice(nothing: int | None) -> None:
    if not _is_ours and loaded:
        end_process(f"{_who()} called exit(), which would have ended this program")
