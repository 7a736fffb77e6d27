"""What is printed shows control characters and sends none to a terminal: names come from files of others."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

SHOWN = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    r"""A text with its control characters as Python writes them; line ends and tabs stay.

    >>> printable("a\x1b[2Jb\r\n")
    'a\\x1b[2Jb\\x0d\n'
    """
    return text.translate(SHOWN)


class PrintableStream:
    """A stream to which only what is printable is written.

    Parameters
    ----------
    raw : file
        For progress bars, which are drawn with control characters.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Write a text, with its control characters shown."""
        return int(self.raw.write(printable(text)))

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def raw_stream(stream: Any) -> Any:
    """The stream behind, for what is drawn with control characters."""
    return stream.raw if isinstance(stream, PrintableStream) else stream


@contextlib.contextmanager
def printable_output() -> Iterator[None]:
    """Inside, the standard output and the standard error are such streams."""
    former_streams = sys.stdout, sys.stderr
    printable = [None if stream is None else PrintableStream(stream) for stream in former_streams]
    sys.stdout, sys.stderr = printable
    try:
        yield
    finally:
        for name, stream, former in zip(("stdout", "stderr"), printable, former_streams, strict=True):
            if getattr(sys, name) is stream:
                setattr(sys, name, former)
