"""Results in the CSV dialect of fmpy."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

import cosim
from cosim.kit import conversion, parse_unit
from cosim_workbench.atomic_file import replaced_file

NAME = re.compile(r'(?:^|(?<=,))(?:\s*"[^"]*"\s*(?=,|$)|[^,]*)')
"""A name in the first line: between quotes it may have commas."""
UNIT = re.compile(r"(.+?)\s+\[([^\[\]]+)\]")
TIMES = ("time", "t")


class ResultsCsv(cosim.ResultSink):
    """A CSV file as fmpy writes and reads it.

    The first line has the names, each in double quotes, ``"time"`` first; then one line for each point.
    The numbers of a vector stand in one cell with spaces between. Every number has as many digits as it
    needs to be read back exactly. Units have no place in this dialect.

    A name may have commas, as those of matrices in other tools' FMUs have: ``"R[2,3]"``. Spreadsheets and
    `read` see that they stand between quotes; ``fmpy.util.read_csv`` splits such a name.

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
            text = Path(path).read_text("utf-8-sig")
        except OSError as error:
            raise cosim.CosimError(f"{path}: {(error.strerror or str(error)).lower()}") from None
        except UnicodeDecodeError:
            raise cosim.CosimError(f"{path}: is no UTF-8 text") from None
        lines = text.splitlines()
        separator = _separator(lines[0]) if lines else ","
        given = [_bare(name) for name in _split(lines[0], separator)] if lines else []
        names, units = [list(part) for part in zip(*map(_with_unit, given), strict=True)] or [[], []]
        if not names or names[0].lower() not in TIMES:
            raise cosim.CosimError(f'{path}:1: is no result: the first column has to be "time"')
        if len(set(names)) != len(names):
            raise cosim.CosimError(f"{path}:1: two columns have the same name")
        rows: list[list[float]] = []
        widths: list[int] = []
        for number, line in enumerate(lines[1:], start=2):
            if separator != ",":
                line = line.replace(",", ".")
            cells = [cell.split() for cell in line.split(separator)]
            widths = widths or [len(cell) for cell in cells]
            if len(cells) != len(names) or [len(cell) for cell in cells] != widths or 0 in widths:
                raise cosim.CosimError(f"{path}:{number}: does not have the columns of the lines above")
            try:
                rows.append([float(text) for cell in cells for text in cell])
            except ValueError as error:
                raise cosim.CosimError(f"{path}:{number}: {error}") from None
        widths = widths or [1] * len(names)
        table = np.array(rows, dtype=np.float64).reshape(len(rows), sum(widths))
        ends = np.cumsum(widths)
        signals = {
            name: table[:, end - 1] if width == 1 else table[:, end - width : end]
            for name, width, end in zip(names, widths, ends, strict=True)
        }
        time = signals.pop(names[0])
        if time.ndim != 1 or not all(map(math.isfinite, time)):
            raise cosim.CosimError(f"{path}: the times are no finite numbers")
        try:
            factor = conversion(units[0], "s")[0] if units[0] != "1" else 1.0
            return cosim.Result(factor * time, signals, dict(zip(names, units, strict=True)))
        except (cosim.UnitError, cosim.ModelError) as error:
            raise cosim.CosimError(f"{path}: {error}") from None


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


def _cells(values: np.typing.NDArray[np.float64]) -> list[str]:
    """Text of each row; `repr` of a float is the shortest text that reads back as the same number."""
    if values.ndim == 1:
        return [repr(value) for value in values.tolist()]
    return [" ".join(map(repr, row)) for row in values.tolist()]
