"""Making blocks whose first row is a header."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Block

if TYPE_CHECKING:
    from cosim.kit import Block, Slot

#: An offset or an index that is not there.
NOWHERE = -1


def table(width: int, *parts: Iterable[Sequence[int]]) -> NDArray[np.int64]:
    """Tables of rows, one below the other, each row filled up with zeros."""
    listed = [row for part in parts for row in part]
    rows = np.zeros((len(listed), width), dtype=np.int64)
    for i, row in enumerate(listed):
        rows[i, : len(row)] = row
    return rows


def block(
    function: object,
    rows: NDArray[np.int64],
    stage: cosim.Stage,
    reads: Sequence[Slot],
    writes: Sequence[Slot],
    what: str,
) -> Block:
    """A block of the schedule; slots without elements (of a joint that does not move) are left out."""
    return Block(
        function,  # type: ignore[arg-type]
        rows,
        stage,
        tuple(slot for slot in reads if slot.size),
        tuple(slot for slot in writes if slot.size),
        (),
        f"dynamics: {what}",
        (),
    )
