"""The head of a CSV file of results: names and units of the columns, by whichever program wrote it."""

from __future__ import annotations

import re
from typing import NamedTuple

import cosim
from cosim.kit import conversion, parse_unit

UNIT = re.compile(r"(.+?)\s+\[([^\[\]]+)\]")
IN_ROUND = re.compile(r"(.+?)\s+\(([^()]+)\)")
"""Units in round brackets, read as such only if the time has one."""
TIMES = ("time", "t")


class CsvHead(NamedTuple):
    """Names and units of the columns, the number of the last line of the head, and the text after it."""

    names: list[str]
    units: list[str]
    separator: str
    line: int
    body: str


def read_head(text: str) -> CsvHead:
    """The first line that is neither empty nor a remark, and a line of units below it.

    Names may stand in the last remark above the numbers, as numpy writes them.
    """
    head = CsvHead([], [], ",", 1, "")
    next_begin, line = 0, 0
    while next_begin < len(text):
        begin, end = next_begin, _end_of_line(text, next_begin)
        row, next_begin = text[begin:end].rstrip("\r"), end + 1
        line += 1 + row.count("\n")
        content = row.strip()
        if not content or content.lower().startswith("sep="):
            continue
        is_remark = content.startswith("#")
        if not is_remark and _time_in(head.names):  # the names stand in the remark above
            return _with_units_below(head._replace(line=line - 1, body=text[begin:]))
        header = content.lstrip("# ") if is_remark else row
        separator = _separator(header)
        names, units = _names_and_units(_split(header, separator))
        head = CsvHead(names, units, separator, line, "" if is_remark else text[next_begin:])
        if not is_remark:
            return _with_units_below(head)
    return head


def _names_and_units(cells: list[str]) -> tuple[list[str], list[str]]:
    """Names and units of a header; units are in square brackets, or in round ones."""
    for pattern in (UNIT, IN_ROUND):
        pairs = [_with_unit(cell, pattern) for cell in cells]
        names, units = [name for name, _ in pairs], [unit for _, unit in pairs]
        if _time_in(names):
            break
    return names, units


def _is_time(name: str) -> bool:
    return name.lower() in TIMES


def time_column(names: list[str]) -> str | None:
    """The column of the time: the first one, if its name is one of the time, else ``time``, else ``t``."""

    def rank(name: str) -> int:
        return -1 if name == names[0] else TIMES.index(name.lower())

    return min(filter(_is_time, names), key=rank, default=None)


def _time_in(names: list[str]) -> bool:
    return any(map(_is_time, names))


def _with_units_below(head: CsvHead) -> CsvHead:
    """The head with the units of the next line, if the time has a unit there and not a number."""
    line, _, body = head.body.partition("\n")
    cells = [cell.strip("[]()") for cell in _split(line.rstrip("\r"), head.separator)]
    if len(cells) != len(head.names) or not _time_in(head.names):
        return head
    time = next(i for i, name in enumerate(head.names) if _is_time(name))
    try:
        conversion(cells[time], "s")
    except cosim.UnitError:
        return head
    units = [_unit(cell) or unit_of_head for cell, unit_of_head in zip(cells, head.units, strict=True)]
    return head._replace(units=units, line=head.line + 1, body=body)


def _separator(header: str) -> str:
    """The separator of the columns: the sign that is in the header outside quotes."""
    unquoted = re.sub(r'"[^"]*"', "", header)
    return next((sign for sign in (";", "\t") if sign in unquoted), ",")


def _split(header: str, separator: str) -> list[str]:
    """The cells of a line; between quotes stand separators, line ends, and quotes that are doubled."""
    mark = re.escape(separator)
    cell = re.compile(rf'[ \t]*"((?:[^"]|"")*)"[ \t\r]*(?={mark}|$)|([^{mark}]*)')
    cells, place = [], 0
    while place <= len(header):
        match = cell.match(header, place)
        assert match is not None  # it may be empty
        quoted = match[1]
        cells.append(match[2].strip().strip('"') if quoted is None else quoted.replace('""', '"'))
        place = match.end() + 1
    return cells


def _end_of_line(text: str, begin: int) -> int:
    """The end of a line that begins there, or of the text; line ends between quotes do not count."""
    end = begin
    while not text.startswith("#", begin) and (end := text.find("\n", end)) >= 0:
        if text.count('"', begin, end) % 2 == 0:
            return end
        end += 1
    end = text.find("\n", begin)  # a quote that is not closed
    return len(text) if end < 0 else end


def _with_unit(name: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    """Name and unit of ``speed [km/h]``; an index, ``x[1]``, has no space before it."""
    match = pattern.fullmatch(name)
    unit = "" if match is None else _unit(match[2])
    return (match[1], unit) if match is not None and unit else (name, "1")


def _unit(text: str) -> str:
    """A unit, if it is one."""
    try:
        parse_unit(text)
    except cosim.UnitError:
        return ""
    return text
