"""Results in the CSV dialect of fmpy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import cosim
from cosim.kit import NotWrittenError, ResultStream, check_folder, conversion, is_device, replaced_file
from cosim_workbench.csv_head import read_head, time_column
from cosim_workbench.csv_last_line import GOING_ON, end_of_rows, last_line, without_last_line
from cosim_workbench.csv_rows import read_columns, read_rows
from cosim_workbench.csv_text import quoted, row_texts
from cosim_workbench.extended_file import ExtendedFile

FIRST = b'"time"'


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
        """Whether the first line begins like that of files written here."""
        try:
            with path.open("rb") as file:
                begin = file.read(len(FIRST) + 1)
        except OSError:
            return False
        return begin in (b"", FIRST) or begin in (FIRST + b",", FIRST + b"\n")

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Write all signals; an existing file is replaced when the new one is complete."""
        with replaced_file(Path(path)) as draft, draft.open("wb") as file:
            file.write(_first_line(result))
            for text in row_texts(result, 0):
                file.write(text)
            file.write(last_line(result))
        return Path(path)

    def extend(self, result: cosim.Result, path: Path, rows: int) -> Path:
        """Append the rows from `rows` on; until all are there the last line says that some are missing."""
        try:
            with Path(path).open("r+b", buffering=0) as file:
                _append_rows(file, result, rows)
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
        text, unfinished = without_last_line(text)
        head = read_head(text)
        line, names = head.line, head.names
        place = time_column(names)
        if place is None:
            raise cosim.CosimError(f'{path}:{line}: is not a result: there is no column "time"')
        named = [name for name in names if name]
        if len(set(named)) != len(named):
            raise cosim.CosimError(f"{path}:{line}: two columns have the same name")
        signals = read_columns(path, names, read_rows(head.body, head.separator, line + 1))
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


def _first_line(result: cosim.Result) -> bytes:
    """The names of the columns."""
    return (",".join(map(quoted, ["time", *result.names])) + "\n").encode()


def _append_rows(file: BinaryIO, result: cosim.Result, first: int) -> None:
    """Append rows; if the disk becomes full, the file keeps complete rows and an incomplete mark."""
    end = end_of_rows(file)
    try:
        for text in row_texts(result, first):
            _write_at(file, end, b"".join((text, GOING_ON)))
            end += len(text)
        _write_at(file, end, last := last_line(result))
        file.truncate(end + len(last))
    except OSError:
        file.truncate(end)
        _write_at(file, end, GOING_ON)
        raise


def _write_at(file: BinaryIO, place: int, data: bytes) -> None:
    file.seek(place)
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[file.write(unwritten) :]
