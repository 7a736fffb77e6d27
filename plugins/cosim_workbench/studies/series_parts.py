"""Values over time of many runs, as parts of Parquet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import replaced_file
from cosim_workbench.arrow_tables import arrow, arrow_table

PART = "part-{:08d}-{:08d}.parquet"
RUN, TIME = "run", "time"


class SeriesParts(cosim.ResultSink):
    """A folder that pandas, polars and DuckDB read as one table: number of the run, time, recorded numbers.

    Each part has the runs from one number to another and is there when it is whole. Parts are written by
    whoever did the runs, which may be a process on another machine: it sees the folder by the same path.

    Parameters
    ----------
    folder : path_like, optional
        New, or with parts of the same runs.
    key : str
        Name of the column with the numbers.
    numbers : sequence of int, optional
        The numbers of the runs; by default counted from 0.
    earlier : collection of str
        Names of parts with other runs, which are there and stay.

    Raises
    ------
    CosimError
        pyarrow is not installed; something else is in the folder.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        folder: str | PathLike[str] | None = None,
        key: str = RUN,
        numbers: Any = None,
        earlier: Collection[str] = (),
    ) -> None:
        self.key, self.numbers, self._earlier = key, numbers, frozenset(earlier)
        self.folder = Path() if folder is None else Path(folder).absolute()
        if folder is None:
            return
        arrow()
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise cosim.CosimError(f"{folder}: cannot be created: {error.strerror or error}") from None
        own_parts = set(self.folder.glob("part-*.parquet")) if numbers is not None else set[Path]()
        foreign = sorted(p for p in self.folder.iterdir() if p not in own_parts)
        visible = next((p.name for p in foreign if p.name[0] != "."), None)
        if visible is not None:
            raise cosim.CosimError(f"{folder}: has {visible} in it: choose another folder")

    def of_runs(self, first: int, last: int) -> SeriesParts:
        """The parts of the runs `first` … `last` - 1."""
        parts = SeriesParts(key=self.key)
        parts.folder = self.folder
        parts.numbers = range(first, last) if self.numbers is None else self.numbers[first:last]
        return parts

    def write(self, result: Any, path: Path) -> Path:
        """Write an `EnsembleResult` as one part into a new folder."""
        SeriesParts(path).of_runs(0, len(result)).add(result)
        return path

    def add(self, ended: Any) -> str:
        """Write a part with the runs of an `EnsembleResult`. Returns its name; "" if no run was done."""
        numbers = np.asarray(self.numbers, dtype=np.int64)
        ran = np.flatnonzero(ended.status != "not run")
        if not len(ran):
            return ""
        times = len(ended.time)
        columns: dict[str, Any] = {
            self.key: np.repeat(numbers[ran], times),
            TIME: np.tile(ended.time, len(ran)),
        }
        units = {TIME: "s"}
        for name in ended.signals:
            values = ended[name][ran].reshape(len(ran) * times, -1)
            several = values.shape[1] > 1
            for i in range(values.shape[1]):
                column = f"{name}[{i}]" if several else name
                columns[column], units[column] = np.ascontiguousarray(values[:, i]), ended.units[name]
        has_values = np.zeros(len(ran) * times, dtype=bool)
        for name in list(columns)[2:]:
            has_values |= ~np.isnan(columns[name])
        target = self.folder / PART.format(numbers[ran[0]], numbers[ran[-1]])
        table = arrow_table({name: values[has_values] for name, values in columns.items()}, units)
        with replaced_file(target) as draft:
            arrow().parquet.write_table(table, draft, write_page_checksum=True)
        return target.name

    def add_results(self, runs: Sequence[tuple[int, cosim.Result]]) -> str:
        """Write a part with results that have times of their own. Returns its name.

        Parameters
        ----------
        runs : sequence of (int, Result)
            With the number of each run; all have the same signals.
        """
        tables = [dict(_scalar_columns(result)) for _, result in runs]
        lengths = [len(result) for _, result in runs]
        columns: dict[str, Any] = {
            self.key: np.repeat(np.array([number for number, _ in runs], dtype=np.int64), lengths),
            TIME: np.concatenate([result.time for _, result in runs]),
        }
        columns |= {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        units = {TIME: "s"} | {name: runs[0][1].unit(name) for name in tables[0]}
        target = self.folder / PART.format(runs[0][0], runs[-1][0])
        with replaced_file(target) as draft:
            table = arrow_table(columns, units)
            arrow().parquet.write_table(table, draft, write_page_checksum=True)
        return target.name

    def remove_others(self, names: Iterable[str]) -> None:
        """Remove parts whose runs were repeated, since their writer did not answer; and drafts.

        Parameters
        ----------
        names : iterable of str
            The names of parts that are added to the earlier ones.
        """
        kept_names = self._earlier | set(names)
        for file in [*self.folder.glob("part-*.parquet"), *self.folder.glob(".part-*")]:
            if file.name not in kept_names:
                file.unlink(missing_ok=True)

    def values(
        self,
        names: Iterable[str],
        runs: int,
        grid: NDArray[np.float64],
        times: slice,
        columns: slice,
    ) -> NDArray[np.float64]:
        """The values of the first runs in all parts; NaN for missing ones.

        Parameters
        ----------
        names : iterable of str
            The names of the parts.
        runs : int
        grid : ndarray, s
            The times of runs.
        times, columns : slice
            Which of the times and of the recorded columns.

        Returns
        -------
        ndarray, shape (runs, times, columns)

        Raises
        ------
        CosimError
            A part is missing, or its checksums do not match.
        """
        indices = range(len(grid))[times]
        values: NDArray[np.float64] | None = None
        for name in names:
            for table in self._tables(name, columns):
                recorded = table.column_names[2:]
                if values is None:
                    values = np.full((runs, len(indices), len(recorded)), np.nan)
                run, point = table[self.key].to_numpy(), np.searchsorted(grid, table[TIME].to_numpy())
                is_selected = (run < runs) & (point >= indices.start) & (point < indices.stop)
                selected = run[is_selected], point[is_selected] - indices.start
                for i, column in enumerate(recorded):
                    values[*selected, i] = table[column].to_numpy()[is_selected]
        return np.full((runs, len(indices), 0), np.nan) if values is None else values

    def _tables(self, name: str, columns: slice) -> Iterator[Any]:
        """The row groups of a part: numbers of runs, times, and which of the recorded columns."""
        path = self.folder / name
        try:
            file = arrow().parquet.ParquetFile(path, page_checksum_verification=True)
            key, time, *recorded = file.schema_arrow.names
            if (key, time) != (self.key, TIME):
                raise ValueError(f"it has columns {key} and {time}, needs {self.key} and {TIME}")
            names = [key, time, *recorded[columns]]
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, names)
            if not file.num_row_groups:
                yield file.read(names)
        except (OSError, ValueError, KeyError, MemoryError, arrow().ArrowException) as error:
            raise cosim.CosimError(f"{path}: is damaged: {error}") from None


def _scalar_columns(result: cosim.Result) -> Iterator[tuple[str, NDArray[Any]]]:
    """Signals of a result; elements of vectors are columns of their own."""
    for name, values in result.signals.items():
        if values.ndim == 1:
            yield name, values
        else:
            yield from ((f"{name}[{i}]", values[:, i]) for i in range(values.shape[1]))
