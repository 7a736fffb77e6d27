"""The output of an FMU: messages of its log (`LogReceiver`, `FmuLog`), and what it prints (`printed_to`)."""

from __future__ import annotations

import ctypes
import functools
import io
import itertools
import os
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from cosim.kit import PrintableStream, black_box, printable, raw_stream
from cosim_fmi.binding.process_guard import last_words
from cosim_fmi.binding.statuses import DISCARD, ERROR, FATAL, OK, PENDING, STATUS_WORDS, WARNING

LOGGER = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p
)
"""The logger of FMI 1.0 and 2.0: environment, name of the instance, status, category, message.

What follows the message is variadic.
"""
LOGGER_3 = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
"""The logger of FMI 3.0: environment, status, category, message."""
_receiver_numbers = itertools.count(1)
_receivers: WeakValueDictionary[int, LogReceiver] = WeakValueDictionary()
"""Receivers by their numbers."""
_by_component: WeakValueDictionary[int, LogReceiver] = WeakValueDictionary()
"""Receivers of instances of FMI 1.0, by the address of the instance."""
_instantiating = threading.local()
"""Its `receiver` waits in this thread for messages of an instance of FMI 1.0 that has no address yet."""
_formatter: list[Any] = []
"""The native helper that inserts variadic arguments into messages, if there is one; see `format_with`."""


class LogReceiver:
    """Receives the messages of an instance.

    The callback of FMI 2.0 and 3.0 gets the address of an environment, in place of which each receiver hands
    out its `number`. That of FMI 1.0 gets the instance alone, which has no address while it is made: then
    messages go to the receiver that is waiting (`waiting`).

    Parameters
    ----------
    add : callable
        Called with status and text.
    """

    def __init__(self, add: Callable[[int, str], None]) -> None:
        self.number, self.add = next(_receiver_numbers), add
        _receivers[self.number] = self

    def receive(self, status: int, message: bytes | None) -> None:
        """Pass on a message that has arrived."""
        self.add(status, (message or b"").decode("utf-8", "replace"))

    def belongs_to(self, component: int) -> None:
        """Route the messages of an instance of FMI 1.0 to this receiver."""
        _by_component[component] = self

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Receive messages while an instance of FMI 1.0 is instantiated."""
        _instantiating.receiver = self
        try:
            yield
        finally:
            _instantiating.receiver = None


def format_with(library: str) -> None:
    """Let a native helper insert the variadic arguments of messages.

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

    def receive(environment: int | None, name: bytes, status: int, category: bytes, message: bytes) -> None:
        receiver = _receivers.get(environment or 0) or _by_component.get(environment or 0)
        receiver = receiver or getattr(_instantiating, "receiver", None)
        receiver.receive(status, message) if receiver is not None else _print(status, message)

    return LOGGER(receive)


@functools.cache
def logger_3() -> Any:
    """The callback of FMI 3.0."""

    def receive(environment: int | None, status: int, category: bytes, message: bytes) -> None:
        receiver = _receivers.get(environment or 0)
        if receiver is not None:
            receiver.receive(status, message)

    return LOGGER_3(receive)


MOST_BYTES = 100_000
"""Bytes of printed text that are read at once; of more text the last ones."""
STANDARD_OUTPUT = 1
_capture_lock = threading.RLock()
"""Held by the thread that captures the standard output: others leave it alone."""


class Printed:
    """A file for captured output, and the part of it that has been read.

    Parameters
    ----------
    file : int
        Descriptor, open for reading and writing.
    """

    def __init__(self, file: int) -> None:
        self._file, self._read_bytes = file, 0

    def pop(self) -> str:
        """The text that was printed since the last call; buffers of the C library are flushed before."""
        flush()
        size = os.fstat(self._file).st_size
        if size <= self._read_bytes:
            return ""
        begin = max(self._read_bytes, size - MOST_BYTES)
        os.lseek(self._file, begin, os.SEEK_SET)  # writes append, wherever that is; Windows has no pread
        data, self._read_bytes = os.read(self._file, size - begin), size
        return data.decode("utf-8", "replace")


@contextmanager
def printed_to(add: Callable[[str], None]) -> Iterator[None]:
    """Capture what is written to the standard output inside, and pass it on at the end.

    Python's own buffer is written first. The standard error stays as it is: an FMU that aborts writes the
    reason there. While another thread captures, nothing is captured here.

    Parameters
    ----------
    add : callable
        Called with the text, at the end, when there is some.
    """
    with _captured_output(add):
        yield


@contextmanager
def printed_beside(add: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """Capture printed text as `printed_to` does, while C code and Python take turns.

    What Python prints with ``sys.stdout`` still goes to where it went before, from whatever thread.

    Parameters
    ----------
    add : callable
        Called with the text, at the end and when the function that this gives is called.
    """
    python = sys.stdout
    with _captured_output(add) as captured:
        if captured is None:
            yield lambda: None
            return
        beside = _writer_beside(python, captured.former)
        try:
            if beside is not None:
                sys.stdout = beside
            yield captured.pass_on
        finally:
            if beside is not None:
                with suppress(OSError, ValueError):
                    beside.flush()
                if sys.stdout is beside:
                    sys.stdout = python


class _CapturedOutput:
    """The destination of the standard output while it is captured, and a descriptor of the former one."""

    def __init__(self, add: Callable[[str], None]) -> None:
        self.former = os.dup(STANDARD_OUTPUT)
        self._file, self._add, self._is_open = _new_file(), add, True
        self._printed = Printed(self._file)
        self._identities = {file: black_box.identity(file) for file in (self.former, self._file)}
        os.dup2(self._file, STANDARD_OUTPUT)

    def pass_on(self) -> None:
        """Pass on the text that was printed since the last call."""
        if not self._is_still_ours(self._file):
            return
        text = self._printed.pop()
        if text:
            os.ftruncate(self._file, 0)
            self._printed = Printed(self._file)
            self._add(text)

    def end(self, why: str = "") -> None:
        """Bring the standard output back, once; also as an action of `last_words`, which says `why`."""
        if self._is_open:
            self._is_open = False
            flush()
            if self._is_still_ours(self.former):
                os.dup2(self.former, STANDARD_OUTPUT)
                os.close(self.former)
            try:
                self.pass_on()
            finally:
                if self._is_still_ours(self._file):
                    os.close(self._file)

    def _is_still_ours(self, file: int) -> bool:
        """Whether this is still the file that was opened here: code of an FMU may have closed it."""
        return black_box.identity(file) == self._identities[file]


@contextmanager
def _captured_output(add: Callable[[str], None]) -> Iterator[_CapturedOutput | None]:
    """Have descriptor 1 write into a file; None if it is closed, or captured in another thread."""
    if not _capture_lock.acquire(blocking=False):
        yield None
        return
    try:
        flush()
        try:
            captured = _CapturedOutput(add)
        except OSError:  # it is closed: nothing can be printed
            yield None
            return
        try:
            with last_words(captured.end):
                yield captured
        finally:
            captured.end()
    finally:
        _capture_lock.release()


_beside: list[int] = []
"""The descriptor for Python's own output while descriptor 1 is captured. It is one for the whole process and
never closed: code that stores `sys.stdout` meanwhile can write to it later, too."""


def _writer_beside(python: Any, descriptor: int) -> Any:
    """A writer to a descriptor in place of `sys.stdout`; None if that writes elsewhere anyhow."""
    try:
        if python.fileno() != STANDARD_OUTPUT:
            return None
        if _beside:
            os.dup2(descriptor, _beside[0], inheritable=False)
        else:
            _beside.append(os.dup(descriptor))
        binary = os.fdopen(_beside[0], "wb", closefd=False)
    except (AttributeError, OSError, ValueError):
        return None
    lines = python.line_buffering
    writer = io.TextIOWrapper(binary, python.encoding, python.errors, line_buffering=lines)
    return writer if raw_stream(python) is python else PrintableStream(writer)


def flush() -> None:
    """Write what Python and the C library have in their buffers."""
    with suppress(Exception):
        sys.stdout.flush()
    if os.name != "nt":
        _c_library().fflush(None)


@functools.cache
def _c_library() -> Any:
    return ctypes.CDLL(None)


def _new_file() -> int:
    """Descriptor of a file, in memory where the system can; what is written is appended."""
    if hasattr(os, "memfd_create"):
        import fcntl

        file = os.memfd_create("printed")
        fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
        return file
    file, name = tempfile.mkstemp()
    os.close(file)
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_TEMPORARY", 0)
    try:
        return os.open(name, flags)
    finally:
        if not hasattr(os, "O_TEMPORARY"):
            os.unlink(name)


SERIOUS_CATEGORIES = ("logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal")
"""Categories of the standard in which failures are logged."""
ERRORS = (ERROR, FATAL)
WRITTEN_STATUSES: dict[str, Container[int]] = {
    "all": range(256),
    "warning": (WARNING, DISCARD, *ERRORS),
    "error": ERRORS,
}
"""Statuses of messages that are written to the file, by the level of the log."""


class FmuLog:
    """The last messages of one instance, and the file to which they are written.

    Parameters
    ----------
    file : Path, optional
        Written anew; control characters are shown (`printable`), since terminals show it.
    level : str
        From which level on messages are written: "all", "warning" or "error".

    Raises
    ------
    OSError
        The file cannot be written.

    Attributes
    ----------
    messages : deque of tuple of (int, str)
        Status and text of the last hundred messages.
    """

    def __init__(self, file: Path | None = None, level: str = "all") -> None:
        self._file = None if file is None else file.open("w", encoding="utf-8", buffering=1)
        self._level = level
        self.messages: deque[tuple[int, str]] = deque(maxlen=100)
        self.errors = self._errors_before_call = 0

    def add(self, status: int, message: str) -> None:
        """Add a message, and write it to the file if its level asks for it."""
        self.errors += status in ERRORS
        self.messages.append((status, message.strip()))
        file = self._file  # a thread of the FMU may log while this one closes
        if file is not None and status in WRITTEN_STATUSES[self._level]:
            with suppress(OSError, ValueError):  # a full disk is not a fault of the run
                word = STATUS_WORDS[status] if 0 <= status < len(STATUS_WORDS) else str(status)
                file.write(printable(f"{word}: {message.strip()}\n"))

    def close(self) -> None:
        """Close the file; later messages are only counted."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def start_call(self) -> None:
        """Begin a call; `has_error` is about messages since then."""
        self._errors_before_call = self.errors

    def has_error(self) -> bool:
        """Whether the FMU has logged an error since the call began."""
        return self.errors > self._errors_before_call

    def text(self, count: int = 5) -> str:
        """First lines of the last messages of at least a warning, or else of the last of any kind."""
        serious = [message for status, message in self.messages if status not in (OK, PENDING)]
        chosen = (serious or [message for _, message in self.messages])[-count:]
        return " | ".join(dict.fromkeys(map(_headline, chosen)))


def _headline(message: str) -> str:
    """The first line; the second where the first names but a C function of Python that failed (pythonfmu)."""
    first, _, rest = message.partition("\n")
    if rest and first.endswith(("PyObject_Call", "PyObject_CallMethod")):
        first = rest.partition("\n")[0]
    return first


def is_log(path: Path) -> bool:
    """Whether a log may replace a file: there is none, or it is a log."""
    try:
        with path.open("rb") as file:
            first = file.readline(64)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    word, colon, _ = first.decode("utf-8", "replace").partition(": ")
    return not first or (bool(colon) and (word in STATUS_WORDS or word.lstrip("-").isdigit()))


def serious_categories(declared: Sequence[str]) -> list[str] | None:
    """Categories to switch on so that an FMU explains its failures without chattering.

    [], which stands for all, when it declares only categories of the standard: some tools log their errors
    under no category at all. None when nothing should be switched on.

    Examples
    --------
    >>> serious_categories(["logStatusError", "logAll"]), serious_categories(["logEvents", "logStatusError"])
    ([], ['logStatusError'])
    """
    if declared and {*declared} <= {*SERIOUS_CATEGORIES, "logStatusPending", "logAll"}:
        return []
    return [c for c in declared if c in SERIOUS_CATEGORIES or "error" in c.lower()] or None
