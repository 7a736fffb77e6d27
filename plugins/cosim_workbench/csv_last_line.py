"""The last line of an incomplete CSV file of results: it says why rows are missing."""

from __future__ import annotations

import os
from typing import BinaryIO

import cosim

NOT_WHOLE = "# not whole: "
"""The beginning of the last line of an incomplete file, a comment that numpy and fmpy skip."""
GOING_ON = f"{NOT_WHOLE}its rows were being written\n".encode()
"""The last line while a run writes rows; it stays if the process is killed."""
LONGEST_LAST_LINE = 1 << 16
"""Bytes from the end of a file in which the last line is looked for."""
LONGEST_REASON = LONGEST_LAST_LINE // 8
"""Characters; each takes at most four bytes, so the line fits."""


def last_line(result: cosim.Result) -> bytes:
    """The line behind the rows of an incomplete result; empty for a complete one."""
    reason = " ".join(result.unfinished.split())
    return f"{NOT_WHOLE}{reason[:LONGEST_REASON]}\n".encode() if reason else b""


def without_last_line(text: str) -> tuple[str, str]:
    """Split the text of a file into rows and reason; the reason is empty if the file is complete."""
    end = text.rstrip("\r\n")
    begin = end.rfind("\n") + 1
    if not end.startswith(NOT_WHOLE, begin):
        return text, ""
    return text[:begin], end[begin + len(NOT_WHOLE) :]


def end_of_rows(file: BinaryIO) -> int:
    """The offset of the end of the rows in a file that `ResultsCsv` has written."""
    size = file.seek(0, os.SEEK_END)
    tail_start = max(0, size - LONGEST_LAST_LINE)
    file.seek(tail_start)
    tail = file.read(size - tail_start)
    line_start = tail.rfind(b"\n", 0, len(tail) - 1) + 1
    return tail_start + line_start if tail.startswith(NOT_WHOLE.encode(), line_start) else size
