"""Walking the schedule: the one loop that evaluates any system, and what else is called by its address.

The table has a row *(address, first, count)* for each block.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim_compiler.array_groups import Integers, Reals, Table
from cosim_compiler.calls import called_by_name, gathering, indirect_call, status_call
from cosim_compiler.derivatives.own_tangents import in_lanes, tangent_of
from cosim_compiler.tables import out_of_lanes, zeros_in_lanes

BLOCK_SIGNATURE = "fFFFIFFIii>v"
TANGENT_SIGNATURE = "fFFFIFFIiifFFFFF>v"
TANGENT_WALK_SIGNATURE = "TIiifFFFIFFfFFFFF>i"
HISTORIES = frozenset({5})
"""The arguments of a block that hold what is remembered."""
STEP_SIGNATURE = "TIiifFFFIFFFFFFIff>i"
REDO_SIGNATURE = "TIiifFFFIFFFFFFI>i"
DENSE_SIGNATURE = "fFFFF>v"
WALK_SIGNATURE = "TIiifFFFIFF>i"
PYTHON_SIGNATURE = "i>i"
TANGENT_REDO_SIGNATURE = "TIiifFFFIFFFFFFIfFFFFFFF>i"
LANE_TANGENT_SIGNATURE = "fFFFIFFIiiFFFFFF>v"
LANE_REDO_SIGNATURE = "TIiifFFFIFFFFFFIFFFFFFFF>i"
TANGENT_DENSE_SIGNATURE = "fFFFFfFFF>v"
REDO_RECORD_SIGNATURE, REDO_REVERSE_SIGNATURE = "TIiifFFFIFFFFFFIfFFFFFFFiiiiiiiF>i", "FFFFFFFFF>v"
DENSE_RECORD_SIGNATURE, DENSE_REVERSE_SIGNATURE = "fFFFFfFFFiiiF>v", "FFFFF>v"
REPEAT_SIGNATURE = "TIiifFFFIFFi>i"
WALK = "cosim_walk"
"""What lowered code calls in place of `walk`."""

call_block = status_call(BLOCK_SIGNATURE)
"""Call one block *(address, t, y, p, d, k, h, c, ints, first, count)*: 0, or 1 when it raised."""


@called_by_name(WALK, WALK_SIGNATURE)
def walk(table, ints, first, last, t, y, p, d, k, h, c):
    """Call the blocks `first` … `last` - 1 in order.

    Returns
    -------
    int
        0, or 1 + the index of the block that raised; the walk stops there.
    """
    for i in range(first, last):
        block = table[i]  # its place is computed once, not three times
        if call_block(block[0], t, y, p, d, k, h, c, ints, block[1], block[2]) != 0:
            return i + 1
    return 0


call_tangent = status_call(TANGENT_SIGNATURE)
"""Call the tangent of a block: its arguments, then the tangents of t, y, p, d, h and c."""


class Walked(NamedTuple):
    """The arguments of `walk`."""

    table: Table
    ints: Integers
    first: int
    last: int
    t: float
    y: Reals
    p: Reals
    d: Reals
    k: Integers
    h: Reals
    c: Reals


class WalkedDots(NamedTuple):
    """The tangents of what varies among them."""

    t: float
    y: Reals
    p: Reals
    d: Reals
    h: Reals
    c: Reals


WALKED = len(Walked._fields)


def walk_tangents(walked, dots):
    """The tangent of `walk`: as it, the tangents of blocks, whose addresses the table holds."""
    for i in range(walked.first, walked.last):
        status = call_tangent(
            walked.table[i, 0],
            walked.t, walked.y, walked.p, walked.d, walked.k, walked.h, walked.c,
            walked.ints, walked.table[i, 1], walked.table[i, 2],
            dots.t, dots.y, dots.p, dots.d, dots.h, dots.c,
        )  # fmt: skip
        if status != 0:
            return i + 1
    return 0


@tangent_of(walk, with_values=True)
@gathering((*Walked._fields, *(f"{name}_dot" for name in WalkedDots._fields)))
def follow_walk(*arguments):
    """`walk_tangents`, as the compiler calls it in place of `walk`: `Walked`, then `WalkedDots`."""
    return walk_tangents(Walked(*arguments[:WALKED]), WalkedDots(*arguments[WALKED:]))


call_lane_tangent = status_call(LANE_TANGENT_SIGNATURE)
"""Call the tangent of a block in lanes: the tangents of t, too, are a view."""


@in_lanes(follow_walk)
@gathering((*Walked._fields, *(f"{name}_dot" for name in WalkedDots._fields)))
def follow_walk_in_lanes(*arguments):
    """`follow_walk`, where tangents are numbers for each lane."""
    walked, dots = Walked(*arguments[:WALKED]), WalkedDots(*arguments[WALKED:])
    time_dots = zeros_in_lanes(1, dots.t)
    time_dots[0] = dots.t
    for i in range(walked.first, walked.last):
        status = call_lane_tangent(
            walked.table[i, 0],
            walked.t, walked.y, walked.p, walked.d, walked.k, walked.h, walked.c,
            walked.ints, walked.table[i, 1], walked.table[i, 2],
            out_of_lanes(time_dots), out_of_lanes(dots.y), out_of_lanes(dots.p), out_of_lanes(dots.d),
            out_of_lanes(dots.h), out_of_lanes(dots.c),
        )  # fmt: skip
        if status != 0:
            return i + 1
    return 0


def repeat_walk(table, ints, first, last, t, y, p, d, k, h, c, times):
    """Walk the same blocks many times (for benchmarks)."""
    status = 0
    for _ in range(times):
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
    return status


call_step = indirect_call(STEP_SIGNATURE)
"""Take a step of the integrator whose compiled step is at that address; its code.

`arguments` is the tuple *(table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory,
work, slots, t_stop, limit)*; see `cosim.contracts.method_layout`.
"""
call_redo = indirect_call(REDO_SIGNATURE)
"""Call another function of the integrator by its address: one that takes the last step again, begins a run,
goes on after a jump or completes dense output; its code.

`arguments` is the tuple of a step without its last two; `t` is the time to which the step goes, else that of
the State. The code is that of a step, for dense output 0 or 1 + the index of a block that raised.
"""
call_redo_tangent = indirect_call(TANGENT_REDO_SIGNATURE)
"""Call the tangent of such a step; behind the arguments come those of t, y, p, d, h, c, memory and work."""
call_lane_redo = indirect_call(LANE_REDO_SIGNATURE)
"""The same in lanes: numbers for each lane stand in place of the tangents."""
call_dense_tangent = indirect_call(TANGENT_DENSE_SIGNATURE)
"""Call the tangent of a dense output; behind the arguments come those of t, work, y and out."""
call_redo_record, call_redo_reverse = map(indirect_call, (REDO_RECORD_SIGNATURE, REDO_REVERSE_SIGNATURE))
call_dense_record, call_dense_reverse = map(indirect_call, (DENSE_RECORD_SIGNATURE, DENSE_REVERSE_SIGNATURE))
"""The adjoints of both: what records takes where each view begins, and the tape, behind the tangents; what
goes back takes the roots, the tape, and a view for the adjoint of the time."""
call_dense = indirect_call(DENSE_SIGNATURE)
"""Call the dense output at that address; `arguments` is the tuple *(t, coefficients, work, y, out)*."""
call_python = indirect_call(PYTHON_SIGNATURE)
"""Call back into Python: a function of one integer that answers with one."""
