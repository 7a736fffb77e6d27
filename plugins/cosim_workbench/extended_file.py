"""A file of results that grows during a run."""

from __future__ import annotations

from pathlib import Path

import cosim
from cosim.kit import ResultStream

UNDER_WAY = "the run has not ended"


class ExtendedFile(ResultStream):
    """Writes the first rows of a run to a new file, and extends it by all others.

    The file says that it is incomplete until it is complete.

    Parameters
    ----------
    sink : ResultSink
        The sink whose `extend` appends rows to a file.
    path : Path
        An existing file is replaced when the first rows are written.
    """

    def __init__(self, sink: cosim.ResultSink, path: Path) -> None:
        self.path, self._sink, self._has_rows = path, sink, False

    def append(self, piece: cosim.Result) -> None:
        """Write the next rows."""
        rows = cosim.Result(piece.time, piece.signals, piece.units, unfinished=UNDER_WAY)
        if self._has_rows:
            self._sink.extend(rows, self.path, 0)
        else:
            self._sink.write(rows, self.path)
        self._has_rows = True

    def close(self, result: cosim.Result) -> None:
        """Complete the file, or write why it is incomplete."""
        if self._has_rows:
            self._sink.extend(result, self.path, len(result))
        else:
            self._sink.write(result, self.path)
