"""The structure of the Jacobian, read from what the blocks of the schedule read and write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim.system.blocks import Block, Slot


def derivative_structure(blocks: Sequence[Block], ny: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The structure of d(y_dot)/dy, column by column.

    What a block writes or adds to depends on what it is computed from (`Block.element_flows`), else on
    everything that the block reads.

    Parameters
    ----------
    blocks : sequence of Block
        One for each row of a kernel function, in an order in which they can run.
    ny : int
        Number of states; their derivatives are the first entries of the cache.

    Returns
    -------
    starts : ndarray of int64, shape (ny + 1,)
        Where the entries of each column start.
    rows : ndarray of int64
        The row of each entry, rising in each column.
    """
    states_of: dict[int, int] = {}  # offset in the cache -> the states it depends on, one bit each
    for block in blocks:
        flows = block.element_flows()
        matrix_columns: dict[int, int] = {}
        for result, sources in flows or [(slot, block.reads) for slot in (*block.writes, *block.adds)]:
            if result.array == "c":
                states = _states(states_of, sources)
                for offset in range(result.offset, result.offset + result.size):
                    matrix_columns[offset] = matrix_columns.get(offset, 0) | states
        for offset, states in matrix_columns.items():
            states_of[offset] = states_of.get(offset, 0) | states
    columns: list[list[int]] = [[] for _ in range(ny)]
    for row in range(ny):
        states = states_of.get(row, 0)
        while states:
            lowest = states & -states
            columns[lowest.bit_length() - 1].append(row)
            states ^= lowest
    starts = np.cumsum([0, *(len(column) for column in columns)], dtype=np.int64)
    return starts, np.array([row for column in columns for row in column], dtype=np.int64)


def _states(states_of: dict[int, int], slots: Iterable[Slot]) -> int:
    """Bits of the states that these slots depend on."""
    states = 0
    for slot in slots:
        if slot.array == "y":
            states |= ((1 << slot.size) - 1) << slot.offset
        elif slot.array == "c":
            for offset in range(slot.offset, slot.offset + slot.size):
                states |= states_of.get(offset, 0)
    return states
