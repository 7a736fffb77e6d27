"""Results as CSV files."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_workbench.replace_file import replace_file

ELEMENT = re.compile(r"(.+)\[(\d+)\]")
LINES_AT_ONCE = 1000


class ResultsCsv(cosim.ResultSink):
    """Writes and reads the CSV dialect of fmpy.

    The first line holds the names in double quotes, ``"time"`` first; each further line is a point. Elements
    of a vector signal are columns ``name[0]``, ``name[1]`` … Every number is written with as many digits as
    bring back the same double. Units are not part of the dialect: what is read has unit "1".

    A file that fmpy wrote is read too; its cells with several numbers become vector signals.

    Raises
    ------
    CosimError
        A file that cannot be written, or one that is no such CSV, with its line.

    Examples
    --------
    >>> import tempfile
    >>> result = cosim.Result([0.0, 0.1], {"ball.z": [1.0, 1 / 3], "wheel.q": [[1, 0], [0, 1]]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = ResultsCsv().write(result, Path(folder) / "ball.csv")
    ...     print(path.read_text(), end="")
    ...     back = ResultsCsv().read(path)
    "time","ball.z","wheel.q[0]","wheel.q[1]"
    0.0,1.0,1.0,0.0
    0.1,0.3333333333333333,0.0,1.0
    >>> bool(back["ball.z"][1] == 1 / 3), back["wheel.q"].shape
    (True, (2, 2))
    """

    suffixes: ClassVar[tuple[str, ...]] = (".csv",)

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Write all signals of a result."""
        return replace_file(Path(path), _chunks({"time": result.time, **result.columns()}))

    def read(self, path: Path) -> cosim.Result:
        """Read a file; columns ``name[0]``, ``name[1]`` … become one vector signal."""
        path = Path(path)
        try:
            with path.open(encoding="utf-8", newline="") as stream:
                names, rows = _read_rows(path, stream)
        except OSError as error:
            raise cosim.CosimError(f"{path}: {(error.strerror or str(error)).lower()}") from None
        except UnicodeDecodeError:
            raise cosim.CosimError(f"{path}: is no UTF-8 text, so no CSV file of results") from None
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
        backwards = np.flatnonzero(np.diff(table[:, 0]) < 0.0)
        if backwards.size:
            raise cosim.CosimError(
                f"{path}:{backwards[0] + 3}: the time goes back, from one line to the next"
            )
        return cosim.Result(table[:, 0], _signals(names[1:], table[:, 1:]))


def _chunks(columns: dict[str, NDArray[np.float64]]) -> Iterator[bytes]:
    header = ",".join('"' + name.replace('"', '""') + '"' for name in columns)
    yield f"{header}\n".encode()
    lists = [values.tolist() for values in columns.values()]
    lines = (",".join(map(repr, row)) for row in zip(*lists, strict=True))
    while chunk := list(itertools.islice(lines, LINES_AT_ONCE)):
        yield ("\n".join(chunk) + "\n").encode()


def _read_rows(path: Path, lines: Iterable[str]) -> tuple[list[str], list[list[float]]]:
    """Names and numbers; a cell with several numbers is several columns."""
    reader = csv.reader(lines, strict=True)
    names: list[str] = []
    rows: list[list[float]] = []
    widths: list[int] = []
    try:
        header = next(reader, [])
        if not header or header[0] != "time":
            raise cosim.CosimError(f'{path}:1: no results: the first column is "time" in a file of results')
        for cells in reader:
            numbers = [float(word) for cell in cells for word in cell.split()]
            if not widths:
                widths = [len(cell.split()) for cell in cells]
            if len(cells) != len(header) or len(numbers) != sum(widths):
                raise cosim.CosimError(
                    f"{path}:{reader.line_num}: {len(cells)} cells with {len(numbers)} numbers, needs "
                    f"{len(header)} with {sum(widths)} as above"
                )
            if math.isnan(numbers[0]):
                raise cosim.CosimError(f"{path}:{reader.line_num}: the time is no number")
            rows.append(numbers)
    except ValueError as error:
        raise cosim.CosimError(f"{path}:{reader.line_num}: {error}") from None
    except csv.Error as error:
        raise cosim.CosimError(f"{path}:{reader.line_num}: no CSV: {error}") from None
    for name, width in zip(header, widths or [1] * len(header), strict=True):
        names += [name] if width == 1 else [f"{name}[{i}]" for i in range(width)]
    twice = (
        next((name for name in names if names.count(name) > 1), None)
        if len(set(names)) < len(names)
        else None
    )
    if twice is not None:
        raise cosim.CosimError(f"{path}:1: two columns are named '{twice}'")
    return names, rows


def _signals(names: list[str], table: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Columns ``name[0]`` … ``name[k]`` that stand beside each other are one signal."""
    signals: dict[str, NDArray[np.float64]] = {}
    at = 0
    while at < len(names):
        size = _vector_at(names, at)
        if size:
            signals[names[at].removesuffix("[0]")] = table[:, at : at + size]
        else:
            signals[names[at]] = table[:, at]
        at += max(1, size)
    return signals


def _vector_at(names: list[str], first: int) -> int:
    """How many columns from here on are the elements 0, 1 … of one vector."""
    start = ELEMENT.fullmatch(names[first])
    if start is None or start[2] != "0" or start[1] in names:
        return 0
    size = 1
    while names[first + size : first + size + 1] == [f"{start[1]}[{size}]"]:
        size += 1
    return size
