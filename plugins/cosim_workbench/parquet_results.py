"""Results in Parquet: a folder of part files, each of which is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim.kit import NotWrittenError, ResultStream, check_folder, save_somewhere
from cosim_workbench.arrow_tables import arrow, arrow_table

VALUES, ROWS = 2**17, 2**10
"""The largest number of values in a part file (1 MB); of rows if there are very many columns."""
PART, SUMMARY = "part-{:06d}.parquet", "_summary.json"
"""Readers of Parquet skip files whose names begin with ``_`` or ``.``."""
KEY = b"cosim"
ABOUT = ("model", "integrator", "accuracy", "source")
"""Statistics that say where results are from."""


class ParquetResults(cosim.ResultSink):
    """A folder ``run.parquet`` with part files that pandas, polars, Arrow and DuckDB read as one table.

    There is a column for each scalar, ``time`` first; elements of a vector are ``name[0]`` … Booleans and
    text are columns of those types. The metadata of columns have their units, and those of each file its
    source. When the run has ended, ``_summary.json`` has its statistics and message. Parts that a run has
    written remain if it is killed.
    """

    suffixes = (".parquet",)

    def is_own(self, path: Path) -> bool:
        """Whether it is a folder with nothing but parts of results."""
        if not path.is_dir():
            return False
        own_files = set(_own_files(path))
        return all(inside in own_files for inside in path.iterdir())

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Write all signals; results that were in the folder are replaced."""
        parts = ParquetParts(
            path, {name: result.statistics[name] for name in ABOUT if name in result.statistics}
        )
        parts.append(result)
        parts.close(result)
        return path

    def check(self, path: Path) -> None:
        """Refuse a folder that contains something else than results."""
        check_parquet(path)

    def stream(self, path: Path, source: Mapping[str, Any] | None = None) -> ResultStream:
        """A stream that writes part files during the run."""
        return ParquetParts(path, source)

    def read(self, path: Path) -> cosim.Result:
        """A result of a folder of parts, or of any single file with a column ``time``.

        Raises
        ------
        CosimError
            It is none, or damaged.
        """
        table = _read_table(path)
        units = {field.name: (field.metadata or {}).get(b"unit", b"1").decode() for field in table.schema}
        header, summary = _about(table.schema), _summary(path)
        signals = _vectors(_read_columns(path, table), header.get("sizes", {}))
        time = signals.pop("time")
        if time.dtype == object or not np.all(np.isfinite(time)):
            fault = "are no numbers" if time.dtype == object else "are no finite numbers"
            raise cosim.CosimError(f"{path}: the times {fault}")
        units = {name: units.get(name, units.get(f"{name}[0]", "1")) for name in signals}
        message = summary.get("message", "the run has not ended" if header else "")
        unfinished = summary.get("unfinished", "the run has not ended" if header and not summary else "")
        try:
            statistics = {**summary.get("statistics", {})}
            if header.get("source"):
                statistics["source"] = header["source"]
            return cosim.Result(time, signals, units, (), statistics, message, unfinished=unfinished)
        except cosim.ModelError as error:
            raise cosim.CosimError(f"{path}: {error}") from None


def _read_table(path: Path) -> Any:
    """The table of Arrow in a file or in the parts of a folder, with a column ``time``."""
    pyarrow = arrow()
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    try:
        if not files:
            raise ValueError("the folder has no part files")
        table = pyarrow.concat_tables([pyarrow.parquet.read_table(file) for file in files])
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise cosim.CosimError(f"{path}: is not a Parquet file that can be read: {error}") from None
    if "time" not in table.column_names:
        raise cosim.CosimError(f'{path}: is not a result: there is no column "time"')
    return table


def _read_columns(path: Path, table: Any) -> dict[str, Any]:
    """The columns of a table as arrays."""
    pyarrow = arrow()
    try:
        return {name: _values(pyarrow, table[name]) for name in table.column_names}
    except (ValueError, TypeError, pyarrow.ArrowException) as error:
        raise cosim.CosimError(f"{path}: a column has neither numbers nor text: {error}") from None


class ParquetParts(ResultStream):
    """Writes part files one after the other.

    Parameters
    ----------
    folder : Path
        Results that were in it are removed; a folder with anything else is refused.
    source : mapping of str to object, optional
        The sources of the results, which are stored in every part.

    Raises
    ------
    CosimError
        It cannot be written, or pyarrow is not installed.
    """

    def __init__(self, folder: Path, source: Mapping[str, Any] | None = None) -> None:
        arrow()
        check_parquet(folder)
        self.folder, self._count = folder, 0
        self._lost: NotWrittenError | None = None
        self.source = _plain(dict(source or {}))
        try:
            if folder.is_file():
                folder.unlink()
            folder.mkdir(exist_ok=True)
            for old in _own_files(folder):
                old.unlink()
        except OSError as error:
            raise cosim.CosimError(f"{folder}: cannot be written: {error.strerror or error}") from None

    def append(self, piece: cosim.Result) -> None:
        """Write parts; each has its name when it is complete.

        A fast run brings many rows at once; encoding all of them together would need much memory. If the disk
        has no room for a part, all remaining rows of the piece are saved elsewhere, and the stream is closed.
        """
        if self._lost is not None:
            raise self._lost
        rows = max(ROWS, VALUES // (1 + len(piece.columns())))
        for first in range(0, max(len(piece), 1), rows):
            target = self.folder / PART.format(self._count)
            self._count += 1
            try:
                self._write(_rows(piece, first, first + rows), target)
            except NotWrittenError:
                self._save_elsewhere(_rows(piece, first, len(piece)), target)
                return  # there was room again, for all remaining rows in this part

    def _save_elsewhere(self, piece: cosim.Result, target: Path) -> None:
        """Save rows for which there was no room; if there is none again, now and later calls fail."""
        try:
            save_somewhere(partial(self._write, piece), target)
        except NotWrittenError as error:
            self._lost = error
            raise

    def _write(self, piece: cosim.Result, target: Path) -> None:
        columns = {"time": piece.time, **piece.columns()}
        units = {name: piece.unit(name) for name in columns}
        sizes = {name: values.shape[1] for name, values in piece.signals.items() if values.ndim == 2}
        about = {"version": cosim.__version__, "sizes": sizes, "source": self.source}
        table = arrow_table(columns, units, {KEY: json.dumps(about)})
        draft = target.with_name(f".{target.name}.draft")
        try:
            # values of reals hardly ever repeat: looking for that takes six times as long as writing them
            texts = [name for name, values in columns.items() if values.dtype == object]
            draft.unlink(missing_ok=True)  # a link would be followed
            with draft.open("xb") as file:
                arrow().parquet.write_table(table, file, use_dictionary=texts)
            os.replace(draft, target)
            arrow().default_memory_pool().release_unused()  # it is long until the next part
        except (OSError, arrow().ArrowException) as error:
            draft.unlink(missing_ok=True)
            reason = getattr(error, "strerror", None) or error
            raise NotWrittenError(f"{target}: cannot be written: {reason}") from None

    def close(self, result: cosim.Result) -> None:
        """Write the summary; a run without rows gets a part without rows."""
        if self._lost is not None or self._count == 0:
            self.append(_rows(result, 0, 0))
        about = {"message": result.message, "statistics": _plain(result.statistics)}
        if result.unfinished:
            about["unfinished"] = result.unfinished
        try:
            (self.folder / SUMMARY).write_text(json.dumps(about, indent=1), "utf-8")
        except OSError as error:
            raise NotWrittenError(f"{self.folder}: cannot be written: {error.strerror or error}") from None


def check_parquet(folder: Path) -> None:
    """Refuse a folder that contains something else than results; called before long runs.

    Raises
    ------
    CosimError
        Also when pyarrow is not installed.
    """
    arrow()
    if not folder.is_dir():
        check_folder(folder)
        return
    result_files = set(_own_files(folder))
    other = next((path for path in sorted(folder.iterdir()) if path not in result_files), None)
    if other is not None:
        raise cosim.CosimError(
            f"{folder}: contains {other.name}, which is not part of results: choose another name"
        )
    if not os.access(folder, os.W_OK):
        raise cosim.CosimError(f"{folder}: the folder cannot be written to; choose another with -o.")


def _own_files(folder: Path) -> list[Path]:
    paths = [*folder.glob("part-*.parquet"), *folder.glob(".part-*.parquet.draft"), folder / SUMMARY]
    return [path for path in paths if path.is_file()]


def _rows(result: cosim.Result, first: int, end: int) -> cosim.Result:
    signals = {name: values[first:end] for name, values in result.signals.items()}
    return cosim.Result(result.time[first:end], signals, result.units)


def _values(pyarrow: Any, column: Any) -> Any:
    """A column as an array of numbers, booleans or texts; what is missing is NaN, of text empty."""
    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
        return np.array([text or "" for text in column.to_pylist()], dtype=object)
    if pyarrow.types.is_boolean(kind) and not column.null_count:
        return np.asarray(column, dtype=np.bool_)
    if pyarrow.types.is_temporal(kind):
        raise TypeError(f"{kind}, needs numbers (times in s)")
    return np.asarray(column, dtype=np.float64)


def _vectors(columns: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """Elements of vectors together again."""
    signals = {}
    elements = {f"{name}[{i}]": name for name, size in sizes.items() for i in range(size)}
    for name, values in columns.items():
        vector = elements.get(name)
        if vector is None:
            signals[name] = values
        elif vector not in signals and all(f"{vector}[{i}]" in columns for i in range(sizes[vector])):
            signals[vector] = np.column_stack([columns[f"{vector}[{i}]"] for i in range(sizes[vector])])
    return signals


def _about(schema: Any) -> dict[str, Any]:
    """The metadata of a part; empty when they are damaged."""
    try:
        header = json.loads((schema.metadata or {}).get(KEY, b"{}"))
    except ValueError:
        return {}
    sizes = header.get("sizes") if isinstance(header, dict) else None
    return header if isinstance(sizes, dict) and all(isinstance(n, int) for n in sizes.values()) else {}


def _summary(path: Path) -> dict[str, Any]:
    try:
        summary = json.loads((path / SUMMARY).read_text("utf-8")) if path.is_dir() else {}
    except (OSError, ValueError):
        return {}
    return summary if isinstance(summary, dict) else {}


def _plain(value: Any) -> Any:
    """The statistics that JSON can represent."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
