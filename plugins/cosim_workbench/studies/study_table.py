"""The table of a study."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FixedAttributes, check_ending, replaced_file
from cosim_workbench.arrow_tables import arrow, arrow_table
from cosim_workbench.optional_library import pandas

TEXTS = ("status", "reason")
WHOLE = ("point", "seed", "steps", "events")


class StudyTable(FixedAttributes):
    """A row for each point that is done: what was varied, objectives, how the run ended.

    Parameters
    ----------
    names : sequence of str
    rows : sequence of sequence of str
        In order of the points.
    inputs, objectives : sequence of str
        Names of the columns with variables, and with objectives.
    units : mapping of str to str
    count : int
        The number of points of the whole study.

    Attributes
    ----------
    columns : dict of str to ndarray
    """

    def __init__(
        self,
        names: Sequence[str],
        rows: Sequence[Sequence[str]],
        inputs: Sequence[str],
        objectives: Sequence[str],
        units: dict[str, str],
        count: int,
    ) -> None:
        self.inputs, self.objectives, self.units = list(inputs), list(objectives), units
        self.count = count
        self.rows = list(rows)
        self.columns: dict[str, NDArray[Any]] = {}
        for i, name in enumerate(names):
            texts = [row[i] for row in rows]
            kind: Any = str if name in TEXTS else np.int64 if name in WHOLE else np.float64
            self.columns[name] = np.array(texts, dtype=kind)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise cosim.LookUpError("column", name, self.columns)
        return self.columns[name]

    @property
    def is_complete(self) -> bool:
        """Whether every point is done."""
        return len(self) == self.count

    @property
    def failed(self) -> int:
        """The number of points that have failed."""
        return int((self.columns["status"] == "failed").sum())

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame`, by the number of the point; ``attrs["units"]`` has the units."""
        frame = pandas().DataFrame(self.columns).set_index("point")
        frame.attrs["units"] = dict(self.units)
        return frame

    def to_parquet(self, path: str | PathLike[str]) -> Path:
        """Write a Parquet file, ``.parquet``; units are metadata of its columns."""
        check_ending(Path(path), ".parquet")
        table = arrow_table(self.columns, self.units)
        with replaced_file(Path(path)) as draft:
            arrow().parquet.write_table(table, draft)
        return Path(path)

    def plot(self, *names: str, path: str | PathLike[str] | None = None) -> Any:
        """Draw a matrix of scatter plots: what was varied and objectives, each against each.

        Parameters
        ----------
        *names : str
            Columns; what was varied and objectives unless given, the first twelve that vary.
        path : path_like, optional
            The file of the picture (``.png``, ``.svg``, ``.pdf``); without it the figure is returned.
        """
        from cosim_workbench.studies.scatter_matrix import scatter_matrix

        return scatter_matrix(self, names, path)
