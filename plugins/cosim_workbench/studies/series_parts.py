"""Values over time of the points of a study, as parts of Parquet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim

PART = "part-{:08d}.parquet"


class SeriesParts:
    """A folder that pandas, polars and DuckDB read as one table: point, time, a column for each number.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    CosimError
        pyarrow is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise cosim.CosimError(
                "values over time need pyarrow, which is not installed: "
                "pip install 'cosim-framework[parquet]'"
            ) from None
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for draft in folder.glob(".part-*"):
            draft.unlink()

    def add(self, found: Any, points: NDArray[np.int64], status: Any) -> None:
        """Write a part with some points; one that a killed process wrote before its rows is replaced.

        Parameters
        ----------
        found : EnsembleResult
        points : ndarray of int64
            Their numbers.
        status : sequence of str
            Points that were not run are left out.
        """
        import pyarrow
        import pyarrow.parquet

        ran = np.flatnonzero([s != "not run" for s in status])
        if not len(ran):
            return
        times = len(found.time)
        columns: dict[str, Any] = {
            "point": np.repeat(points[ran], times),
            "time": np.tile(found.time, len(ran)),
        }
        units = {"time": "s"}
        for name in found.signals:
            values = found[name][ran].reshape(len(ran) * times, -1)
            several = values.shape[1] > 1
            for i in range(values.shape[1]):
                column = f"{name}[{i}]" if several else name
                columns[column], units[column] = np.ascontiguousarray(values[:, i]), found.units[name]
        recorded = [values for name, values in columns.items() if name not in ("point", "time")]
        kept = ~np.isnan(np.column_stack(recorded)).all(axis=1)
        fields, arrays = [], []
        for name, values in columns.items():
            array = pyarrow.array(values[kept])
            unit = units.get(name)
            fields.append(pyarrow.field(name, array.type, metadata={"unit": unit} if unit else None))
            arrays.append(array)
        target = self.folder / PART.format(int(points[ran[0]]))
        draft = target.with_name(f".{target.name}.draft")
        table = pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))
        pyarrow.parquet.write_table(table, draft)
        os.replace(draft, target)
