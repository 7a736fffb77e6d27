"""The adjoint of walking the schedule: blocks are recorded on a tape, and gone back over from the last.

The table of a recorded walk has twice as many rows: first those of the functions that record, with *(address,
first, count)*, then those of the functions that go back.
"""

from __future__ import annotations

from cosim.walker import walk
from cosim_compiler.calls import indirect_call, status_call
from cosim_compiler.derivatives.own_tangents import recorded_by
from cosim_compiler.derivatives.tape_ends import pop, push
from cosim_compiler.tables import zeros

RECORD_SIGNATURE = "fFFFIFFIiifFFFFiiiiF>v"
REVERSE_SIGNATURE = "FFFFFF>v"
RECORDED_WALK_SIGNATURE = "TIiifFFFIFFfFFFFF>i"
REVERSED_WALK_SIGNATURE = "FFFFFF>f"

call_record = status_call(RECORD_SIGNATURE)
"""Record a block: its arguments, the tangents of t, y, p, d and c, where these four begin, the tape."""
call_reverse = indirect_call(REVERSE_SIGNATURE)
"""Go back along a block: the roots of y, p, d and c, the tape, and a view for the adjoint of the time."""


def reverse_walk(y_root, p_root, d_root, h_root, c_root, tape):
    """Go back along the blocks of a recorded walk; the adjoint of the time."""
    count = int(pop(tape))
    bars = zeros(1)
    total = 0.0
    for _ in range(count):
        call_reverse(int(pop(tape)), (y_root, p_root, d_root, c_root, tape, bars))
        total += bars[0]
    return total


@recorded_by(walk, reverse_walk)
def record_walk(
    table, ints, first, last, t, y, p, d, k, h, c, t_dot, y_dot, p_dot, d_dot, h_dot, c_dot,
    y_at, p_at, d_at, h_at, c_at, tape,
):  # fmt: skip
    """As `walk`, of blocks that are recorded; histories are fixed."""
    behind = table.shape[0] // 2
    for i in range(first, last):
        if (
            call_record(
                table[i, 0], t, y, p, d, k, h, c, ints, table[i, 1], table[i, 2],
                t_dot, y_dot, p_dot, d_dot, c_dot, y_at, p_at, d_at, c_at, tape,
            )
            != 0
        ):  # fmt: skip
            return i + 1
        push(tape, table[behind + i, 0] * 1.0)
    push(tape, (last - first) * 1.0)
    return 0


def record_blocks(table, ints, first, last, t, y, p, d, k, h, c, t_dot, y_dot, p_dot, d_dot, c_dot, tape):
    """`record_walk` of whole arrays."""
    return record_walk(
        table,
        ints,
        first,
        last,
        t,
        y,
        p,
        d,
        k,
        h,
        c,
        t_dot,
        y_dot,
        p_dot,
        d_dot,
        h,
        c_dot,
        0,
        0,
        0,
        0,
        0,
        tape,
    )
