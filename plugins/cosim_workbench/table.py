"""Results as a table of pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cosim
from cosim.kit import replaced_file
from cosim_workbench.optional_library import pandas


class Table(cosim.ResultSink):
    """A table of pandas: shown as a data frame, written with tabs between and the units in the header.

    Every number has as many digits as it needs to be read back exactly.
    """

    suffixes = (".tsv",)

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Write ``time [s]``, ``engine.z [m]`` … and a line for each point."""
        frame = self.show(result)
        frame.columns = [_with_unit(name, result.unit(name)) for name in frame.columns]
        frame.index.name = _with_unit("time", "s")
        with replaced_file(path) as draft:
            frame.to_csv(draft, sep="\t", lineterminator="\n", na_rep="nan")
        return path

    def show(self, result: cosim.Result) -> Any:
        """The data frame (`pandas.DataFrame`): the time is the index, ``attrs["units"]`` has the units."""
        frame = pandas().DataFrame(result.columns(), index=pandas().Index(result.time, name="time"))
        frame.attrs["units"] = {name: result.unit(name) for name in frame.columns}
        return frame


def _with_unit(name: str, unit: str) -> str:
    return name if unit == "1" else f"{name} [{unit}]"
