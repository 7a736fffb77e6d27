"""Output without control characters: names from files may contain some, which would change the terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029)
"""Characters of Unicode that turn the direction of the text behind them, or end a line."""
SHOWN = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}
SHOWN |= {code: f"\\u{code:04x}" for code in TURNING}


def printable(text: str) -> str:
    r"""A text whose control characters are replaced by escapes like ``\x1b``; line ends and tabs stay.

    >>> printable("a\x1b[2Jb\r\n"), printable("\u202ecsv.exe")
    ('a\\x1b[2Jb\\x0d\n', '\\u202ecsv.exe')
    """
    return text.translate(SHOWN)


class PrintableStream:
    """A stream that escapes control characters.

    Parameters
    ----------
    raw : file
        The stream behind it. Progress bars, which need control characters, write to it directly.

    Attributes
    ----------
    has_failed : bool
        Whether a text could not be written, now or earlier.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.has_failed = False

    def write(self, text: str) -> int:
        """Write a text, with its control characters shown."""
        with self._recording_failure():
            return int(self.raw.write(printable(text)))

    def flush(self) -> None:
        """Write the text that waits in the buffer."""
        with self._recording_failure():
            self.raw.flush()

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    @contextlib.contextmanager
    def _recording_failure(self) -> Iterator[None]:
        """Set `has_failed` when an operation of the stream raises `OSError`."""
        try:
            yield
        except OSError:
            self.has_failed = True
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def raw_stream(stream: Any) -> Any:
    """The stream behind a `PrintableStream`, which takes control characters; of others the stream itself."""
    return stream.raw if isinstance(stream, PrintableStream) else stream


@contextlib.contextmanager
def printable_output() -> Iterator[None]:
    """Make standard output and standard error `PrintableStream`, until the end of the context."""
    former_streams = sys.stdout, sys.stderr
    printable = [None if stream is None else PrintableStream(stream) for stream in former_streams]
    sys.stdout, sys.stderr = printable
    try:
        yield
    finally:
        for name, stream, former in zip(("stdout", "stderr"), printable, former_streams, strict=True):
            if getattr(sys, name) is stream:
                setattr(sys, name, former)
