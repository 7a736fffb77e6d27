"""The last line of a CSV file of results from which rows are missing at the end: the reason."""

from __future__ import annotations

import os
from typing import BinaryIO

import cosim

NOT_WHOLE = "# not whole: "
"""The beginning of the last line if rows are missing behind it; numpy and fmpy skip such lines."""
GOING_ON = f"{NOT_WHOLE}its rows were being written\n".encode()
LONGEST_LAST_LINE = 1 << 16
"""Bytes."""


def last_line(result: cosim.Result) -> bytes:
    """The line behind the rows of an incomplete result."""
    reason = " ".join(result.unfinished.split())
    return f"{NOT_WHOLE}{reason[: LONGEST_LAST_LINE // 8]}\n".encode() if reason else b""


def without_last_line(text: str) -> tuple[str, str]:
    """The text without a last line that marks it as incomplete, and the reason in that line."""
    end = text.rstrip("\r\n")
    begin = end.rfind("\n") + 1
    if not end.startswith(NOT_WHOLE, begin):
        return text, ""
    return text[:begin], end[begin + len(NOT_WHOLE) :]


def end_of_rows(file: BinaryIO) -> int:
    """The end of the rows in a file that `ResultsCsv` has written."""
    size = file.seek(0, os.SEEK_END)
    begin = max(0, size - LONGEST_LAST_LINE)
    file.seek(begin)
    tail = file.read(size - begin)
    place = tail.rfind(b"\n", 0, len(tail) - 1) + 1
    return begin + place if tail.startswith(NOT_WHOLE.encode(), place) else size
