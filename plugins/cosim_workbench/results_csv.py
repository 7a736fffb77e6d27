"""Results in the CSV dialect of fmpy."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim.kit import conversion, parse_unit
from cosim_workbench.atomic_file import replaced_file

NAME = re.compile(r'(?:^|(?<=,))(?:\s*"[^"]*"\s*(?=,|$)|[^,]*)')
"""A name in the first line: between quotes it may have commas."""
QUOTED = re.compile(r' *"((?:[^"]|"")*)" *')
UNIT = re.compile(r"(.+?)\s+\[([^\[\]]+)\]")
TIMES = ("time", "t")
WORDS = {"true": "1", "false": "0"}
"""As fmpy and pandas write booleans."""


class ResultsCsv(cosim.ResultSink):
    """A CSV file as fmpy writes and reads it.

    The first line has the names, each in double quotes, ``"time"`` first; then one line for each point.
    The numbers of a vector stand in one cell with spaces between. Every number has as many digits as it
    needs to be read back exactly. Booleans are 0 and 1, text stands between double quotes, with those inside
    it doubled. Units have no place in this dialect.

    A name may have commas, as those of matrices in other tools' FMUs have: ``"R[2,3]"``. Spreadsheets and
    `read` see that they stand between quotes; ``fmpy.util.read_csv`` splits such a name. It does not read
    text either.

    References
    ----------
    fmpy 0.3, ``fmpy.util.write_csv`` and ``read_csv``; FMI cross-check rules, format of results.
    """

    suffixes = (".csv",)

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Write all signals; the file is replaced when it is whole."""
        names = ["time", *result.names]
        for name in names:
            if any(sign in name for sign in '"\n\r'):
                raise cosim.CosimError(
                    f'{path}: the name {name!r} has a sign that CSV cannot hold: " or a line end'
                )
        columns = [_cells(result.time), *(_cells(result[name]) for name in result.names)]
        with replaced_file(Path(path)) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
            file.write(",".join(f'"{name}"' for name in names) + "\n")
            file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))
        return Path(path)

    def read(self, path: Path) -> cosim.Result:
        """A result with these signals; without events and statistics.

        Files of other tools are read, too: columns between commas, semicolons or tabs, decimal commas in
        the latter two, units behind the names (``"plant.speed [km/h]"``), the time as ``Time`` or ``t``.

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
            raise cosim.CosimError(f"{path}: is no UTF-8 text") from None
        header = text.partition("\n")[0]
        separator = _separator(header)
        given = [_bare(name) for name in _split(header.rstrip("\r"), separator)] if text else []
        names, units = [list(part) for part in zip(*map(_with_unit, given), strict=True)] or [[], []]
        if not names or names[0].lower() not in TIMES:
            raise cosim.CosimError(f'{path}:1: is no result: the first column has to be "time"')
        if len(set(names)) != len(names):
            raise cosim.CosimError(f"{path}:1: two columns have the same name")
        signals = _columns(path, names, _rows(text[len(header) + 1 :], separator))
        time = signals.pop(names[0])
        if time.ndim != 1 or time.dtype == object or not all(map(math.isfinite, time)):
            raise cosim.CosimError(f"{path}: the times are no finite numbers")
        try:
            factor = conversion(units[0], "s")[0] if units[0] != "1" else 1.0
            return cosim.Result(factor * time, signals, dict(zip(names, units, strict=True)))
        except (cosim.UnitError, cosim.ModelError) as error:
            raise cosim.CosimError(f"{path}: {error}") from None


class _Row(NamedTuple):
    """A line: its number, for each column the numbers, and of text columns the text."""

    line: int
    cells: list[list[str]]
    texts: dict[int, str]


def _rows(body: str, separator: str) -> Iterator[_Row]:
    if '"' not in body:
        for number, line in enumerate(body.splitlines(), start=2):
            yield _Row(number, [_numbers(cell, separator) for cell in line.split(separator)], {})
        return
    bare = re.compile(rf"[^{re.escape(separator)}\r\n]*")
    place, number = 0, 2
    while place < len(body):
        row = _Row(number, [], {})
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
            place = match.end() + 1
            if body[match.end() : place] != separator:
                break
        place += body[place - 1 : place + 1] == "\r\n"
        number += 1
        yield row


def _numbers(cell: str, separator: str) -> list[str]:
    return (cell if separator == "," else cell.replace(",", ".")).split()


def _columns(path: Path, names: list[str], rows: Iterator[_Row]) -> dict[str, Any]:
    """The columns by name; `CosimError` with the line in which something is wrong."""
    table: list[list[float]] = []
    texts: dict[int, list[str]] = {}
    booleans: set[int] = set()
    widths: list[int] = []
    for row in rows:
        found = [len(cell) for cell in row.cells]
        if not widths:
            widths, texts = found, {column: [] for column in row.texts}
        if len(found) != len(names) or found != widths or 0 in widths:
            raise cosim.CosimError(f"{path}:{row.line}: does not have the columns of the lines above")
        if row.texts.keys() != texts.keys():
            odd = names[min(row.texts.keys() ^ texts.keys())]
            raise cosim.CosimError(f"{path}:{row.line}: {odd} is text in some lines and not in others")
        for column, text in row.texts.items():
            texts[column].append(text)
        try:
            table.append([float(text) for cell in row.cells for text in cell])
        except ValueError as error:
            said = [[WORDS.get(text.lower(), text) for text in cell] for cell in row.cells]
            booleans.update(i for i, cell in enumerate(row.cells) if cell != said[i])
            try:
                table.append([float(text) for cell in said for text in cell])
            except ValueError:
                raise cosim.CosimError(f"{path}:{row.line}: {error}") from None
    widths = widths or [1] * len(names)
    numbers = np.array(table, dtype=np.float64).reshape(len(table), sum(widths))
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
    """What stands between the columns: the sign that is in the header beside its quotes."""
    bare = re.sub(r'"[^"]*"', "", header)
    return next((sign for sign in (";", "\t") if sign in bare), ",")


def _split(header: str, separator: str) -> list[str]:
    return NAME.findall(header) if separator == "," else header.split(separator)


def _with_unit(name: str) -> tuple[str, str]:
    """Name and unit of ``speed [km/h]``; an index, ``x[1]``, has no space before it."""
    match = UNIT.fullmatch(name)
    if match is None:
        return name, "1"
    try:
        parse_unit(match[2])
    except cosim.UnitError:
        return name, "1"
    return match[1], match[2]


def _bare(name: str) -> str:
    return name.strip().strip('"')


def _cells(values: np.typing.NDArray[Any]) -> list[str]:
    """Text of each row; `repr` of a float is the shortest text that reads back as the same number."""
    write: Callable[[Any], str] = _quoted if values.dtype == object else repr
    if values.dtype == np.bool_:
        values = values.astype(np.int64)
    if values.ndim == 1:
        return [write(value) for value in values.tolist()]
    return [" ".join(map(write, row)) for row in values.tolist()]


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
