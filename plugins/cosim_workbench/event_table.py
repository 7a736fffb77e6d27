"""The events of a run as a table of pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cosim
from cosim.kit import replaced_file
from cosim_workbench.optional_library import pandas


class EventTable(cosim.ResultSink):
    """A row for each handler that was called: shown as a data frame, written with tabs between."""

    suffixes = (".events",)

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Write the names of the columns, then a line for each event."""
        frame = self.show(result)
        with replaced_file(path) as draft:
            frame.to_csv(draft, sep="\t", index=False, lineterminator="\n", na_rep="nan")
        return path

    def show(self, result: cosim.Result) -> Any:
        """The data frame (`pandas.DataFrame`)."""
        nothing = cosim.EventRecord(0.0, cosim.EventCause.INVALID, "", "", (0.0, 0.0)).row()
        return pandas().DataFrame([event.row() for event in result.events], columns=list(nothing))
