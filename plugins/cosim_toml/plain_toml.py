"""The TOML that programs write: tables of bare keys, each with its value on its line.

tomllib is written in Python and takes some 10 µs a line; a model of 100,000 constants has 400,000 lines. The
commonest lines are read by one regular expression here, other values by tomllib, line by line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

LINE = re.compile(
    r"""[ \t]*(?:
    ([A-Za-z0-9_-]+)[ \t]*=[ \t]*(?:
        "([^"\\\x00-\x1f\x7f]*)"
      | ([+-]?(?:0|[1-9][0-9]{0,17}))
      | ([+-]?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99}(?:[eE][+-]?[0-9]{1,9})?|[eE][+-]?[0-9]{1,9}))
      | (true|false)
      | ([^\r\n]{1,4000}?)
      )
    | \[([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){0,3})\]
    | \[\[([A-Za-z0-9_-]+)\]\]
    )?[ \t]*(?:\#[^\x00-\x08\x0a-\x1f\x7f]*)?""",
    re.VERBOSE,
)
"""One line without its end; it may be empty."""
KEY, TEXT, INTEGER, REAL, TRUTH, OTHER, TABLE, ROWS = range(1, 9)
DEEPEST = 50
"""Brackets in one line: a value that is nested deeper takes all of Python's stack."""
LONG_WORD = re.compile(r"[0-9A-Za-z_]{17}")
"""An integer of more than 64 bits would be one."""
KEPT_LINES = 4096
"""Lines that are read once: many of them stand in the table of each part, such as its type."""
CONVERT: dict[int, Callable[[str], Any]] = {TEXT: str, INTEGER: int, REAL: float, TRUTH: "true".__eq__}


def read_plain(text: str) -> dict[str, Any] | None:
    r"""The tables of a text; None if tomllib has to read it: other lines, faults, perhaps too large integers.

    Examples
    --------
    >>> read_plain('[a.b]\nc = 1\nd = "e"\n[[f]]\ng = [2.5]  # m')
    {'a': {'b': {'c': 1, 'd': 'e'}}, 'f': [{'g': [2.5]}]}
    >>> read_plain('a = "two"\na = "values"'), read_plain("a.b = 1"), read_plain("a = [1,\n2]")
    (None, None, None)
    """
    if "\r" in text and "\r" in (text := text.replace("\r\n", "\n")):
        return None
    document = _Document()
    try:
        document.add(text)
    except _NotPlainError:
        return None
    return document.tables


class _NotPlainError(Exception):
    """A line that tomllib has to read, or that is not valid."""


class _Document:
    """The tables of the lines so far; the next line with a key adds its value to the last one."""

    def __init__(self) -> None:
        self.tables: dict[str, Any] = {}
        self._table = self.tables
        self._above, self._siblings = "", self.tables  # of the last header
        self._headers: set[str] = set()
        self._closed: set[int] = set()  # values in brackets, to which no table below adds anything
        self._entries: dict[str, tuple[str, Any]] = {}  # of lines that have been read

    def add(self, text: str) -> None:
        """Read lines, the commonest of which are most of a large file."""
        entries = self._entries
        for line in text.split("\n"):
            entry = entries.get(line) or (self._read(line) if line else None)
            if entry is None:
                continue
            key, value = entry
            if key in self._table:
                raise _NotPlainError
            self._table[key] = value

    def _read(self, line: str) -> tuple[str, Any] | None:
        """The key and value of a line; None for a header, which opens its table, or a comment."""
        match = LINE.fullmatch(line)
        if match is None:
            raise _NotPlainError
        kind = match.lastindex
        if kind in CONVERT:
            entry = match[KEY], CONVERT[kind](match[kind])
            if len(self._entries) < KEPT_LINES:
                self._entries[line] = entry
            return entry
        if kind == TABLE:
            self._open_table(match[TABLE])
        elif kind == ROWS:
            self._open_row(match[ROWS])
        elif kind == OTHER:
            value = _other_value(match[OTHER])
            self._closed.add(id(value))
            return match[KEY], value
        return None

    def _open_table(self, header: str) -> None:
        """``[a.b]``, which may stand once."""
        if header in self._headers:
            raise _NotPlainError
        self._headers.add(header)
        above, _, last = header.rpartition(".")
        if above != self._above:  # most headers follow one of the same table
            self._above, self._siblings = above, self.tables
            for key in above.split(".") if above else ():
                self._siblings = self._inside(self._siblings, key)
        self._table = self._inside(self._siblings, last)

    def _inside(self, table: dict[str, Any], key: str) -> dict[str, Any]:
        """The table of this key, which is made where it is mentioned first."""
        inner = table.setdefault(key, {})
        if type(inner) is not dict or id(inner) in self._closed:
            raise _NotPlainError
        return inner

    def _open_row(self, header: str) -> None:
        """``[[a]]``: a further table of a list."""
        rows = self.tables.setdefault(header, [])
        if type(rows) is not list or id(rows) in self._closed:
            raise _NotPlainError
        self._table = {}
        rows.append(self._table)


def _other_value(text: str) -> Any:
    """A value that tomllib reads: arrays, tables in braces, times, other numbers and texts."""
    if LONG_WORD.search(text) or text.count("[") + text.count("{") > DEEPEST:
        raise _NotPlainError
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except (ValueError, RecursionError):
        raise _NotPlainError from None
