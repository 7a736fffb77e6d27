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
    r"""What tomllib reads; None where the text has other lines, is not valid, or may have too large integers.

    Examples
    --------
    >>> read_plain('[a.b]\nc = 1\nd = "e"\n[[f]]\ng = [2.5]  # m')
    {'a': {'b': {'c': 1, 'd': 'e'}}, 'f': [{'g': [2.5]}]}
    >>> read_plain('a = "two"\na = "values"'), read_plain("a.b = 1"), read_plain("a = [1,\n2]")
    (None, None, None)
    """
    if "\r" in text and "\r" in (text := text.replace("\r\n", "\n")):
        return None
    data: dict[str, Any] = {}
    table = data
    headers: set[str] = set()
    closed: set[int] = set()  # values in brackets, to which no table below adds anything
    known: dict[str, tuple[str, Any]] = {}
    for text_of_line in text.split("\n"):
        if not text_of_line:
            continue
        if text_of_line in known:
            key, value = known[text_of_line]
            if key in table:
                return None
            table[key] = value
            continue
        line = LINE.fullmatch(text_of_line)
        if line is None:
            return None
        kind = line.lastindex
        if kind is None:
            continue
        if kind == TABLE:
            header = line[TABLE]
            if header in headers:
                return None
            headers.add(header)
            table = data
            for key in header.split("."):
                table = table.setdefault(key, {})
                if type(table) is not dict or id(table) in closed:
                    return None
        elif kind == ROWS:
            rows = data.setdefault(line[ROWS], [])
            if type(rows) is not list or id(rows) in closed:
                return None
            table = {}
            rows.append(table)
        else:
            key, value = line[KEY], line[kind]
            if key in table:
                return None
            if kind != OTHER:
                table[key] = value = CONVERT[kind](value)
                if len(known) < KEPT_LINES:
                    known[text_of_line] = key, value
                continue
            if LONG_WORD.search(value) or value.count("[") + value.count("{") > DEEPEST:
                return None
            try:
                table[key] = tomllib.loads(f"x = {value}")["x"]
            except (ValueError, RecursionError):
                return None
            closed.add(id(table[key]))
    return data
