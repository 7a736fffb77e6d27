"""A result stream that stores its pieces in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import cosim
from cosim import kit


class StoredPieces(kit.ResultStream):
    """Stores the pieces, and the result at the end."""

    def __init__(self) -> None:
        self.pieces: list[cosim.Result] = []
        self.end: cosim.Result | None = None

    def append(self, piece: cosim.Result) -> None:
        self.pieces.append(piece)

    def close(self, result: cosim.Result) -> None:
        assert self.end is None
        self.end = result

    def table(self) -> Any:
        """All rows: time, then the signals."""
        return np.concatenate([np.column_stack([p.time, *p.signals.values()]) for p in self.pieces])
