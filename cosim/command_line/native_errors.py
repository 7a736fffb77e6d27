"""The standard error of native code: it reaches the terminal without control characters."""

from __future__ import annotations

import codecs
import io
import os
import sys
import threading
from contextlib import suppress
from typing import Any

from cosim.command_line.black_box import identity
from cosim.command_line.printable import PrintableStream, printable

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
PIECE = 2**16
SECONDS_TO_END = 0.5
"""For text that is under way when the process has ended; processes that an FMU has started may go on."""


class NativeErrors:
    """A pipe from the standard error of a process to that of the one that watches it; made before the fork.

    Native code writes to the descriptor, past `PrintableStream`. Python's own messages and progress bars go
    past the pipe.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self._thread: threading.Thread | None = None

    def enter(self) -> None:
        """In the process that is watched: turn the descriptor to the pipe."""
        os.close(self._read)
        stream: Any = sys.stderr
        if isinstance(stream, PrintableStream) and _writes_to_standard_error(stream.raw):
            beside = io.BufferedWriter(_Beside(os.dup(STANDARD_ERROR)))
            raw = stream.raw
            stream.raw = io.TextIOWrapper(beside, raw.encoding, raw.errors, line_buffering=True)
            os.dup2(self._write, STANDARD_ERROR)
        os.close(self._write)

    def watch(self) -> None:
        """In the process that watches: pass on what the other one prints, until `end`."""
        os.close(self._write)
        self._thread = threading.Thread(target=self._pass_on, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """The process has ended: pass on what is left."""
        if self._thread is not None:
            self._thread.join(SECONDS_TO_END)

    def _pass_on(self) -> None:
        """Print what arrives, with control characters shown, until nothing more comes."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        with suppress(OSError):  # nothing can be said any more
            while data := os.read(self._read, PIECE):
                left = memoryview(printable(decode(data)).encode(encoding, "backslashreplace"))
                while left:
                    left = left[os.write(STANDARD_ERROR, left) :]


def late_output_to_errors() -> None:
    """Send what native code prints after the end of the command to the standard error."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        os.dup2(STANDARD_ERROR, STANDARD_OUTPUT)


class _Beside(io.RawIOBase):
    """A copy of the descriptor as it was; the present one where native code has closed or limited it."""

    def __init__(self, file: int) -> None:
        self._file, self._known = file, identity(file)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file if identity(self._file) == self._known else STANDARD_ERROR

    def isatty(self) -> bool:
        return os.isatty(self.fileno())

    def write(self, data: Any) -> int:
        try:
            return os.write(self.fileno(), data)
        except OSError:  # such as a limit for the size of files
            return os.write(STANDARD_ERROR, data)


def _writes_to_standard_error(raw: Any) -> bool:
    """Whether a stream has the descriptor: a program may have put another one in its place."""
    try:
        return bool(raw.fileno() == STANDARD_ERROR)
    except (AttributeError, OSError, ValueError):
        return False
