"""The adjoint of walking the schedule: blocks are recorded on a tape, and gone back over from the last.

The table of a recorded walk has twice as many rows: first those of the functions that record, with *(address,
first, count)*, then those of the functions that go back.
"""

from __future__ import annotations

from cosim.walker import WALKED, Walked, WalkedDots, walk
from cosim_compiler.calls import indirect_call, status_call
from cosim_compiler.derivatives.own_tangents import recorded_by
from cosim_compiler.derivatives.tape_ends import pop, push
from cosim_compiler.tables import zeros

RECORD_SIGNATURE = "fFFFIFFIiifFFFFFiiiiiF>v"
"""A block that records, see `call_record`."""
REVERSE_SIGNATURE = "FFFFFFF>v"
"""A block that goes back, see `call_reverse`."""
RECORDED_WALK_SIGNATURE = "TIiifFFFIFFfFFFFFF>i"
"""`record_whole`."""
REVERSED_WALK_SIGNATURE = "FFFFFF>f"
"""`reverse_walk`."""

call_record = status_call(RECORD_SIGNATURE)
"""Record a block: its arguments, the tangents of t, y, p, d, h and c, where these five begin, the tape."""
call_reverse = indirect_call(REVERSE_SIGNATURE)
"""Go back along a block: the roots of y, p, d, h and c, the tape, and a view for the adjoint of the time."""


def reverse_walk(y_root, p_root, d_root, h_root, c_root, tape):
    """Go back along the blocks of a recorded walk, from the last; return the adjoint of the time.

    The tape ends with the count of blocks. Before it stands for each block what it recorded, and the address
    of the function that goes back along it.
    """
    count = int(pop(tape))
    bars = zeros(1)
    total = 0.0
    for _ in range(count):
        call_reverse(int(pop(tape)), (y_root, p_root, d_root, h_root, c_root, tape, bars))
        total += bars[0]
    return total


def record_blocks(walked, dots, starts, tape):
    """Walk blocks and record them on a tape; return 0, or 1 + the index of the block that raised.

    `dots` are the tangents of what is walked, `starts` where in their roots y, p, d, h and c begin.
    """
    first_reverse = walked.table.shape[0] // 2
    for i in range(walked.first, walked.last):
        status = call_record(
            walked.table[i, 0],
            walked.t, walked.y, walked.p, walked.d, walked.k, walked.h, walked.c,
            walked.ints, walked.table[i, 1], walked.table[i, 2],
            dots.t, dots.y, dots.p, dots.d, dots.h, dots.c, *starts, tape,
        )  # fmt: skip
        if status != 0:
            return i + 1
        push(tape, walked.table[first_reverse + i, 0] * 1.0)
    push(tape, (walked.last - walked.first) * 1.0)
    return 0


OWN_ROOTS = 0, 0, 0, 0, 0
"""Where y, p, d, h and c begin that are whole arrays, their own roots."""

# the arguments that the compiler passes in a row: `Walked`, `WalkedDots`, where arrays begin, the tape
FIRST_START = WALKED + len(WalkedDots._fields)
AT_TAPE = FIRST_START + len(OWN_ROOTS)


@recorded_by(walk, reverse_walk)
def record_walk(*arguments):
    """`record_blocks` for the compiler: `Walked`, `WalkedDots`, where y, p, d, h and c begin, the tape."""
    dots = WalkedDots(*arguments[WALKED:FIRST_START])
    starts = arguments[FIRST_START:AT_TAPE]
    return record_blocks(Walked(*arguments[:WALKED]), dots, starts, arguments[AT_TAPE])


def record_whole(*arguments):
    """`record_blocks` of whole arrays: `Walked`, `WalkedDots`, the tape."""
    dots = WalkedDots(*arguments[WALKED:FIRST_START])
    return record_blocks(Walked(*arguments[:WALKED]), dots, OWN_ROOTS, arguments[FIRST_START])
