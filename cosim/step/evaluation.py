"""Calling blocks of the schedule, on the present state or on a spare one beside it."""

from __future__ import annotations

from cosim.step import layout as ix
from cosim.step.arrays import Arrays, Reals
from cosim.step.codes import FAILED_BLOCK
from cosim.walker import walk


def walk_rows(a: Arrays, first: int, last: int, t: float, y: Reals, c: Reals) -> int:
    """Call the blocks of these rows of the table; 0 or a code."""
    status = walk(a.table, a.ints, first, last, t, y, a.p, a.d, a.k, a.h, c)
    if status == 0:
        return 0
    a.places[ix.BLOCK] = status - 1
    return FAILED_BLOCK


def walk_here(a: Arrays, first: int, last: int) -> int:
    """As `walk_rows`, on the present state."""
    return walk_rows(a, first, last, a.clock[ix.TIME], a.y, a.c)


def probed(a: Arrays) -> tuple[Reals, Reals]:
    """Spare states, for looks at other times, and the cache that belongs to them."""
    y, c = a.program[ix.PROBED_Y], a.program[ix.PROBED_C]
    return a.scratch[y : y + a.y.shape[0]], a.scratch[c : c + a.c.shape[0]]


def copy_cache(a: Arrays, source: Reals, target: Reals) -> None:
    """What does not vary with the time that is looked at is the same in a spare cache."""
    for m in range(a.program[ix.CACHE]):
        target[m] = source[m]
