"""BlockRow: a row of the table of blocks, which says what is called."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class BlockRow(NamedTuple):
    """A call of a kernel function that treats components of one kind.

    Attributes
    ----------
    function : int
        Address of the function; in a lowered program its number.
    first : int
        Where in `ints` the integers of the components begin.
    components : int
        How many there are.
    """

    function: int
    first: int
    components: int


def columns_of(table: NDArray[np.int64]) -> Any:
    """The columns of a table by the names of `BlockRow`."""
    return BlockRow(*table.T)
