"""Results in the CSV dialect of fmpy."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

import cosim
from cosim.kit import NotWrittenError, ResultStream, check_folder, conversion, is_device, parse_unit
from cosim_workbench.atomic_file import replaced_file
from cosim_workbench.csv_text import quoted, row_texts
from cosim_workbench.extended_file import ExtendedFile

QUOTED = re.compile(r' *"((?:[^"]|"")*)" *')
UNIT = re.compile(r"(.+?)\s+\[([^\[\]]+)\]")
IN_ROUND = re.compile(r"(.+?)\s+\(([^()]+)\)")
"""Units in round brackets, which all columns may have if the time has one."""
TIMES = ("time", "t")
MISSING = ["nan"]
"""An empty cell, as pandas writes NaN."""
WORDS = {"true": "1", "false": "0"}
"""Booleans as fmpy and pandas write them."""
FIRST = b'"time"'
NOT_WHOLE = "# not whole: "
"""The beginning of the last line if rows are missing behind it; numpy and fmpy skip such lines."""
GOING_ON = f"{NOT_WHOLE}its rows were being written\n".encode()
LONGEST_LAST_LINE = 1 << 16
"""Bytes."""


class ResultsCsv(cosim.ResultSink):
    """A CSV file as fmpy writes and reads it.

    The first line has the names, each in double quotes, ``"time"`` first; then one line for each point.
    The numbers of a vector stand in one cell with spaces between. Every number has as many digits as it
    needs to be read back exactly. Booleans are 0 and 1, text stands between double quotes, with those inside
    it doubled; what is read as text need not, where it is not a number. Units have no place in this dialect.

    A name may have commas, as those of matrices in other tools' FMUs have: ``"R[2,3]"``, and quotes (doubled)
    and line ends, as RFC 4180 has them. Spreadsheets and `read` see that they stand between quotes;
    ``fmpy.util.read_csv`` splits such a name. It does not read text either.

    Where rows are missing at the end, since the run failed, was interrupted or goes on, the last line says
    so: ``# not whole: …``.

    References
    ----------
    fmpy 0.3, ``fmpy.util.write_csv`` and ``read_csv``; FMI cross-check rules, format of results; RFC 4180.
    """

    suffixes = (".csv",)

    def check(self, path: Path) -> None:
        """Check that the folder exists and can be written to."""
        check_folder(path)

    def is_own(self, path: Path) -> bool:
        """Whether its first line begins as ours do."""
        try:
            with path.open("rb") as file:
                begin = file.read(len(FIRST) + 1)
        except OSError:
            return False
        return begin in (b"", FIRST) or begin in (FIRST + b",", FIRST + b"\n")

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Write all signals; the file is replaced when it is whole."""
        with replaced_file(Path(path)) as draft, draft.open("wb") as file:
            file.write(_first_line(result))
            for text in row_texts(result, 0):
                file.write(text)
            file.write(_last_line(result))
        return Path(path)

    def extend(self, result: cosim.Result, path: Path, rows: int) -> Path:
        """Append the other rows; at every moment the last line says so if it is not whole."""
        try:
            with Path(path).open("r+b", buffering=0) as file:
                end = _end_of_rows(file)
                try:
                    for text in row_texts(result, rows):
                        _write_at(file, end, b"".join((text, GOING_ON)))
                        end += len(text)
                    _write_at(file, end, last := _last_line(result))
                    file.truncate(end + len(last))
                except OSError:  # a full disk: whole rows, and a last line where one was before
                    file.truncate(end)
                    _write_at(file, end, GOING_ON)
                    raise
        except OSError as error:
            raise NotWrittenError(f"{path}: cannot be written: {error.strerror or error}") from None
        return Path(path)

    def stream(self, path: Path, source: Mapping[str, Any] | None = None) -> ResultStream:
        """A stream that appends rows to a file during the run; it has no place for a source."""
        self.check(path)
        if is_device(path):
            raise cosim.CosimError(
                f"{path}: is not a regular file, so rows cannot be written to it during a run"
            )
        return ExtendedFile(self, path)

    def read(self, path: Path) -> cosim.Result:
        """A result with these signals; without events and statistics.

        Files of other tools are read, too: columns between commas, semicolons or tabs, decimal commas in
        the latter two, units behind the names (``"plant.speed [km/h]"``) or in the line below them, the time
        as ``Time`` or ``t`` in any column, remarks (``#``, ``sep=``) above. Empty lines and columns without a
        name are left out, an empty cell is NaN.

        Raises
        ------
        CosimError
            With the line that is wrong.
        """
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise cosim.CosimError(f"{path}: {(error.strerror or str(error)).lower()}") from None
        except UnicodeDecodeError:
            raise cosim.CosimError(f"{path}: is not UTF-8 text") from None
        text, unfinished = _without_last_line(text)
        head = _head(text)
        line, names = head.line, head.names
        place = min(filter(_is_time, names), key=lambda name: _rank(names, name), default=None)
        if place is None:
            raise cosim.CosimError(f'{path}:{line}: is not a result: there is no column "time"')
        named = [name for name in names if name]
        if len(set(named)) != len(named):
            raise cosim.CosimError(f"{path}:{line}: two columns have the same name")
        signals = _columns(path, names, _rows(head.body, head.separator, line + 1))
        signals.pop("", None)
        time = signals.pop(place)
        if time.ndim != 1 or time.dtype == object or not all(map(math.isfinite, time)):
            fault = "are text" if time.dtype == object else "are no finite numbers"
            raise cosim.CosimError(f"{path}: the times {fault}")
        units = dict(zip(names, head.units, strict=True))
        try:
            factor = conversion(units[place], "s")[0] if units[place] != "1" else 1.0
            return cosim.Result(factor * time, signals, units, unfinished=unfinished)
        except (cosim.UnitError, cosim.ModelError) as error:
            raise cosim.CosimError(f"{path}: {error}") from None


class _Head(NamedTuple):
    """Names and units of the columns, the number of the line that they end in, and what follows it."""

    names: list[str]
    units: list[str]
    separator: str
    line: int
    body: str


def _head(text: str) -> _Head:
    """The first line that is neither empty nor a remark, and a line of units below it.

    Names may stand in the last remark above the numbers, as numpy writes them.
    """
    head = _Head([], [], ",", 1, "")
    begin, line = 0, 0
    while begin < len(text):
        end = _end_of_line(text, begin)
        first, place, begin = text[begin:end].rstrip("\r"), begin, end + 1
        line += 1 + first.count("\n")
        bare = first.strip()
        if not bare or bare.lower().startswith("sep="):
            continue
        is_remark = bare.startswith("#")
        if not is_remark and _time_in(head.names):  # of the remark before
            return _with_units_below(head._replace(line=line - 1, body=text[place:]))
        header = bare.lstrip("# ") if is_remark else first
        separator = _separator(header)
        bare_names = _split(header, separator)
        for pattern in (UNIT, IN_ROUND):
            pairs = [_with_unit(name, pattern) for name in bare_names]
            names, units = [name for name, _ in pairs], [unit for _, unit in pairs]
            if _time_in(names):
                break
        head = _Head(names, units, separator, line, "" if is_remark else text[begin:])
        if not is_remark:
            return _with_units_below(head)
    return head


def _is_time(name: str) -> bool:
    return name.lower() in TIMES


def _rank(names: list[str], name: str) -> int:
    """The rank of a name that may be the time: first the first column, then ``time``, then ``t``."""
    return -1 if name == names[0] else TIMES.index(name.lower())


def _time_in(names: list[str]) -> bool:
    return any(map(_is_time, names))


def _with_units_below(head: _Head) -> _Head:
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


class _Row(NamedTuple):
    """A line: its number, for each column the numbers, between quotes the text, and the cells as they are."""

    line: int
    cells: list[list[str]]
    texts: dict[int, str]
    raw: list[str]

    def bare_texts(self) -> dict[int, str]:
        """Cells without quotes that are no numbers."""
        return {
            i: cell
            for i, cell in enumerate(map(str.strip, self.raw))
            if i not in self.texts and cell[:1] not in ("", '"') and not all(map(_is_number, self.cells[i]))
        }


def _rows(body: str, separator: str, first: int) -> Iterator[_Row]:
    """The lines that are not empty; `first` is the number of the first one."""
    if '"' not in body:
        for number, line in enumerate(body.split("\n"), start=first):
            if line.strip():
                raw = line.split(separator)
                yield _Row(number, [_numbers(cell, separator) for cell in raw], {}, raw)
        return
    bare = re.compile(rf"[^{re.escape(separator)}\r\n]*")
    place, number = 0, first
    while place < len(body):
        row = _Row(number, [], {}, [])
        while True:
            match = QUOTED.match(body, place)
            if match is not None and body[match.end() : match.end() + 1] in (separator, "\r", "\n", ""):
                row.texts[len(row.cells)] = match[1].replace('""', '"')
                row.cells.append(["nan"])
                number += match[1].count("\n")
            else:
                match = bare.match(body, place)
                assert match is not None  # it may be empty
                row.cells.append(_numbers(match[0], separator))
            row.raw.append(match[0])
            place = match.end() + 1
            if body[match.end() : place] != separator:
                break
        place += body[place - 1 : place + 1] == "\r\n"
        if len(row.cells) > 1 or row.texts or row.cells[0] != MISSING:
            yield row._replace(line=number)
        number += 1


def _numbers(cell: str, separator: str) -> list[str]:
    return (cell if separator == "," else cell.replace(",", ".")).split() or MISSING


def _is_number(text: str) -> bool:
    try:
        float(WORDS.get(text.lower(), text))
    except ValueError:
        return False
    return True


def _columns(path: Path, names: list[str], rows: Iterator[_Row]) -> dict[str, Any]:
    """The columns by name; `CosimError` with the line in which something is wrong."""
    table: list[list[float]] = []
    texts: dict[int, list[str]] = {}
    booleans: set[int] = set()
    widths: list[int] = []
    for row in rows:
        if not widths:  # what is text in the first line is text in all of them
            texts = {column: [] for column in (*row.texts, *row.bare_texts())}
        if texts:
            bare_texts = row.bare_texts()
            for column in texts.keys() & bare_texts.keys():
                row.texts[column], row.cells[column] = bare_texts[column], list(MISSING)
        sizes = [len(cell) for cell in row.cells]
        widths = widths or sizes
        if len(sizes) != len(names) or sizes != widths or 0 in widths:
            raise cosim.CosimError(f"{path}:{row.line}: does not have the columns of the lines above")
        if row.texts.keys() != texts.keys():
            odd = names[min(row.texts.keys() ^ texts.keys())]
            raise cosim.CosimError(f"{path}:{row.line}: {odd} is text in some lines and not in others")
        for column, text in row.texts.items():
            texts[column].append(text)
        table.append(_row_numbers(path, row, booleans))
    widths = widths or [1] * len(names)
    numbers = np.array(table, dtype=np.float64).reshape(len(table), sum(widths))
    return _signals(names, widths, numbers, texts, booleans)


def _row_numbers(path: Path, row: _Row, booleans: set[int]) -> list[float]:
    """The numbers of a line; columns that have a word for one are added to `booleans`."""
    try:
        return [float(text) for cell in row.cells for text in cell]
    except ValueError as error:
        numerals = [[WORDS.get(text.lower(), text) for text in cell] for cell in row.cells]
        booleans.update(i for i, cell in enumerate(row.cells) if cell != numerals[i])
        try:
            return [float(text) for cell in numerals for text in cell]
        except ValueError:
            raise cosim.CosimError(f"{path}:{row.line}: {error}") from None


def _signals(
    names: list[str], widths: list[int], numbers: Any, texts: Mapping[int, list[str]], booleans: set[int]
) -> dict[str, Any]:
    """The columns of a table of numbers by name, with texts and booleans in their places."""
    signals: dict[str, Any] = {}
    end = 0
    for i, (name, width) in enumerate(zip(names, widths, strict=True)):
        end += width
        signals[name] = numbers[:, end - 1] if width == 1 else numbers[:, end - width : end]
        if i in texts:
            signals[name] = np.array(texts[i], dtype=object)
        elif i in booleans:
            signals[name] = signals[name] != 0.0
    return signals


def _separator(header: str) -> str:
    """The separator of the columns: the sign that is in the header outside quotes."""
    bare = re.sub(r'"[^"]*"', "", header)
    return next((sign for sign in (";", "\t") if sign in bare), ",")


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


def _first_line(result: cosim.Result) -> bytes:
    """The names of the columns."""
    return (",".join(map(quoted, ["time", *result.names])) + "\n").encode()


def _last_line(result: cosim.Result) -> bytes:
    """The line behind the rows of an incomplete result."""
    reason = " ".join(result.unfinished.split())
    return f"{NOT_WHOLE}{reason[: LONGEST_LAST_LINE // 8]}\n".encode() if reason else b""


def _without_last_line(text: str) -> tuple[str, str]:
    """The text without a last line that marks it as incomplete, and the reason in that line."""
    end = text.rstrip("\r\n")
    begin = end.rfind("\n") + 1
    if not end.startswith(NOT_WHOLE, begin):
        return text, ""
    return text[:begin], end[begin + len(NOT_WHOLE) :]


def _end_of_rows(file: BinaryIO) -> int:
    """The end of the rows in a file that `ResultsCsv` has written."""
    size = file.seek(0, os.SEEK_END)
    begin = max(0, size - LONGEST_LAST_LINE)
    file.seek(begin)
    tail = file.read(size - begin)
    place = tail.rfind(b"\n", 0, len(tail) - 1) + 1
    return begin + place if tail.startswith(NOT_WHOLE.encode(), place) else size


def _write_at(file: BinaryIO, place: int, data: bytes) -> None:
    file.seek(place)
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
