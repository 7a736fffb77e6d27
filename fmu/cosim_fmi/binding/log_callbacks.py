"""The callbacks by which FMUs log, and who receives the messages of which instance."""

from __future__ import annotations

import ctypes
import functools
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

LOGGER = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p
)
"""The environment, the instance's name, status, category, message; what follows is variadic."""
LOGGER_3 = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
"""The environment, status, category, message."""
_numbers = itertools.count(1)
_receivers: WeakValueDictionary[int, LogReceiver] = WeakValueDictionary()
_by_component: WeakValueDictionary[int, LogReceiver] = WeakValueDictionary()
_now = threading.local()
_formatter: list[Any] = []


class LogReceiver:
    """Takes the messages of one instance.

    FMI 2.0 and 3.0 hand an address of the environment to the callback; it is the `number` here. FMI 1.0
    hands the instance only, which has no address while it is made: then messages go to the receiver that
    is waiting (`waiting`).

    Parameters
    ----------
    add : callable
        Called with status and text.
    """

    def __init__(self, add: Callable[[int, str], None]) -> None:
        self.number, self.add = next(_numbers), add
        _receivers[self.number] = self

    def take(self, status: int, message: bytes | None) -> None:
        """A message has arrived."""
        self.add(status, (message or b"").decode("utf-8", "replace"))

    def belongs_to(self, component: int) -> None:
        """Messages of this instance of FMI 1.0 are for this receiver."""
        _by_component[component] = self

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """As long as an instance of FMI 1.0 is made."""
        _now.receiver = self
        try:
            yield
        finally:
            _now.receiver = None


def format_with(library: str) -> None:
    """Have a native helper put the variadic arguments of messages into their text.

    Parameters
    ----------
    library : str
        Path of fmpy's ``logging`` library; its ``addLoggerProxy`` takes the address of the callbacks of
        FMI 1.0 or 2.0. ctypes cannot receive variadic arguments, so without it (not there for every
        platform) texts keep their ``%s``.
    """
    if not _formatter and Path(library).exists():
        proxy = ctypes.CDLL(library).addLoggerProxy
        proxy.argtypes, proxy.restype = (ctypes.c_void_p,), None
        _formatter.append(proxy)


def with_format(callbacks: Any) -> Any:
    """The callbacks, with the native helper before the logger where there is one.

    The helper knows one callback for the whole process: the last one that it was given. Messages of
    instances that are not ours (a program that uses fmpy itself) are printed as fmpy prints them.
    """
    for proxy in _formatter:
        proxy(ctypes.addressof(callbacks))
    return callbacks


def _print(status: int, message: bytes | None) -> None:
    print(f"[{status}] {(message or b'').decode('utf-8', 'replace')}")


@functools.cache
def logger() -> Any:
    """The callback of FMI 1.0 and 2.0; kept for ever, since the helper keeps its address."""

    def receive(who: int | None, name: bytes, status: int, category: bytes, message: bytes) -> None:
        receiver = _receivers.get(who or 0) or _by_component.get(who or 0)
        receiver = receiver or getattr(_now, "receiver", None)
        receiver.take(status, message) if receiver is not None else _print(status, message)

    return LOGGER(receive)


@functools.cache
def logger_3() -> Any:
    """The callback of FMI 3.0."""

    def receive(who: int | None, status: int, category: bytes, message: bytes) -> None:
        receiver = _receivers.get(who or 0)
        if receiver is not None:
            receiver.take(status, message)

    return LOGGER_3(receive)
