"""Blocks of the schedule that a solver adds: a function over records of what the solver knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Block, Record

if TYPE_CHECKING:
    from cosim.kit import Slot


def rows_from(records: Sequence[Record]) -> NDArray[np.int64]:
    """The rows of a block that are these records."""
    return np.array([np.frombuffer(record, dtype=np.int64) for record in records], dtype=np.int64)


def solver_block(
    function: object,
    rows: NDArray[np.int64],
    stage: cosim.Stage,
    reads: Sequence[Slot],
    writes: Sequence[Slot],
    label: str,
    can_be_omitted: bool = False,
) -> Block:
    """A block of the schedule; slots without elements (of a joint that does not move) are left out."""
    return Block(
        function,  # type: ignore[arg-type]
        rows,
        stage,
        tuple(slot for slot in reads if slot.size),
        tuple(slot for slot in writes if slot.size),
        (),  # it adds to nothing
        f"dynamics: {label}",
        can_be_omitted=can_be_omitted,
    )
