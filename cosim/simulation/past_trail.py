"""PastTrail: the parts of the trail of a run that lie behind it, in memory and in files."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.private_folder import private_folder, remove_folder

Reals = NDArray[np.float64]
IN_MEMORY = 32
"""So many pieces of the trail stay in memory; older ones go to files."""


class Lengthened(NamedTuple):
    """The histories before they were lengthened.

    Attributes
    ----------
    past : dict of str to ndarray
        Their numbers, and tangents of them.
    former, present : list of ndarray
        Of each history, where among the numbers of a direction those of its entries lay, and lie since then.
    """

    past: dict[str, Reals]
    former: list[NDArray[np.int64]]
    present: list[NDArray[np.int64]]


class PastTrail:
    """Pieces of a trail, and between them where histories were lengthened, in the order of the run."""

    def __init__(self) -> None:
        self._pieces: list[Reals | Path | Lengthened] = []
        self._folder: Path | None = None

    def __len__(self) -> int:
        return len(self._pieces)

    def append(self, piece: Reals | Lengthened) -> None:
        """Take what comes next; the piece that is no longer among the last ones goes to a file."""
        self._pieces.append(piece)
        oldest = len(self._pieces) - IN_MEMORY - 1
        if oldest >= 0 and isinstance(written := self._pieces[oldest], np.ndarray):
            path = (self._folder or self._make_folder()) / f"{oldest}.npy"
            np.save(path, written)
            self._pieces[oldest] = path

    def _make_folder(self) -> Path:
        self._folder = private_folder("trail")
        weakref.finalize(self, remove_folder, self._folder)
        return self._folder

    def lengthened(self) -> int:
        """How often histories were lengthened."""
        return sum(isinstance(piece, Lengthened) for piece in self._pieces)

    def from_the_end(self) -> Iterator[Reals | Lengthened]:
        """The last piece first."""
        for piece in reversed(self._pieces):
            yield np.load(piece) if isinstance(piece, Path) else piece
