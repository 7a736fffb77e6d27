"""The parts of a schedule: slots, and blocks that read and write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.stage import Stage


class Slot(NamedTuple):
    """A stretch of one of the State's arrays.

    Attributes
    ----------
    array : str
        "y", "p", "d", "k", "h" or "c".
    offset, size : int
    """

    array: str
    offset: int
    size: int

    def part(self, index: int, size: int = 1) -> Slot:
        """A stretch inside this one."""
        return Slot(self.array, self.offset + index, size)

    @property
    def elements(self) -> range:
        """The offsets of its elements."""
        return range(self.offset, self.offset + self.size)

    def overlaps(self, other: Slot) -> bool:
        """Whether the two have an element in common."""
        if self.array != other.array:
            return False
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


class BlockArrays(NamedTuple):
    """The arrays of a State in the order in which blocks take them."""

    y: NDArray[np.float64]
    p: NDArray[np.float64]
    d: NDArray[np.float64]
    k: NDArray[np.int64]
    h: NDArray[np.float64]
    c: NDArray[np.float64]


Flows = tuple[tuple[Slot, tuple[Slot, ...]], ...]
STAGES_OF_ARRAYS = {"p": Stage.INSTANCE, "h": Stage.TIME}
"""The stage at which everything in an array is known; in other arrays it depends on the place."""
TIME = Slot("t", 0, 1)
"""The time among what something is computed from."""


@dataclass(eq=False, slots=True)
class Block:
    """A function and the rows that it is called for.

    Attributes
    ----------
    function : function
        Has the signature of a block: ``(t, y, p, d, k, h, c, ints, first, count)``.
    rows : ndarray of int64, shape (count, width)
        What `ints` holds from `first` on; it holds an array that several blocks share once. Of a node of the
        graph a list of rows will do; once it is merged into a block they have no width any more.
    stage : Stage
        The earliest; what it reads may make it later.
    reads, writes, adds : tuple of Slot
        What its place in the order follows from.
    label : str
        For messages: "dynamics.sval: acceleration".
    owners : tuple of str
        Paths of the components, one for each row where there is one for each.
    is_python : bool
        Whether the function is plain Python that compiled code calls back.
    mergeable : bool
        Whether its rows are called one after the other, whatever stands beside them.
    can_be_omitted : bool
        Whether an evaluation may leave it out that needs none of its results, even if it is not mergeable.
    members : tuple of int
        Of a block of the schedule: the nodes of the graph that it was made from, in the order of its rows.
    find_flows : callable or None
        Gives, for a block, what elements of its results are computed from, where more may be known than that
        it is what the block reads.
    find_element_flows : callable or None
        As `find_flows`, of each element of vectors by itself; it takes longer.
    """

    function: Callable[..., None]
    rows: Any
    stage: Stage
    reads: tuple[Slot, ...] = ()
    writes: tuple[Slot, ...] = ()
    adds: tuple[Slot, ...] = ()
    label: str = ""
    owners: tuple[str, ...] = ()
    is_python: bool = False
    mergeable: bool = False
    can_be_omitted: bool = False
    members: tuple[int, ...] = ()
    find_flows: Callable[[Block], Flows] | None = None
    find_element_flows: Callable[[Block], Flows] | None = None

    def flows(self) -> Flows:
        """The slots from which elements of the results are computed (time: `TIME`); empty if unknown.

        It is found out each time: most blocks are never asked.
        """
        return () if self.find_flows is None else self.find_flows(self)

    def element_flows(self) -> Flows:
        """The flows with the elements of vectors separated where that is known."""
        return (() if self.find_element_flows is None else self.find_element_flows(self)) or self.flows()

    def count_merged_rows(self) -> None:
        """Keep how many rows there are: those themselves stand in the block that this one was merged into."""
        self.rows = _without_numbers(len(self.rows))


@cache
def _without_numbers(count: int) -> NDArray[np.int64]:
    """Rows of no width."""
    return np.zeros((count, 0), dtype=np.int64)


def behind(block: Block, flows: Flows, slot: Slot) -> tuple[Slot, ...]:
    """The slots from which a block computes a part of its results; `flows` are the block's."""
    if not flows:
        return block.reads
    return tuple(s for result, sources in flows if result.overlaps(slot) for s in sources)


def element_by_element(block: Block) -> Flows:
    """The flows of a block all of whose results and sources go side by side, where they have one length."""
    size, reads = block.writes[0].size, block.reads
    if any(slot.size != size for slot in (*reads, *block.writes)):
        return ()
    return tuple((w.part(i), tuple(r.part(i) for r in reads)) for w in block.writes for i in range(size))
