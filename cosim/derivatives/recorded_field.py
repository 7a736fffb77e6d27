"""How gradients go back over the blocks that hold witnesses.

The row that holds witnesses (`cosim.step.sliding_field`) calls other blocks of the system, whose addresses it
lists. To go back, the row is recorded as any block is. This file says how the calls in it are recorded: the
listed block is one that records, and the address of the block that goes back over it is put on the tape.

The array ``ints`` of a recorded row ends with pairs of addresses (one that records, one that goes back), and
the number of these pairs.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.recorded_walk import call_record, call_reverse
from cosim.run_data.run import Reals
from cosim.step.sliding_field import Held, ListedBlock, call_listed
from cosim_compiler.derivatives.own_tangents import recorded_by
from cosim_compiler.derivatives.tape_ends import pop, push
from cosim_compiler.tables import zeros


class RecordedCall(NamedTuple):
    """What a recorded `call_listed` takes, as the compiler passes it.

    First come the arguments of `call_listed`, then the tangents of all reals in them, then for each of these
    views where it begins in its root, the array that has its adjoints.
    """

    held: Held
    block: ListedBlock
    t: float
    y: Reals
    h: Reals
    c: Reals
    p_dot: Reals
    d_dot: Reals
    held_h_dot: Reals
    t_dot: float
    y_dot: Reals
    h_dot: Reals
    c_dot: Reals
    p_at: int
    d_at: int
    held_h_at: int
    y_at: int
    h_at: int
    c_at: int
    tape: Reals


def reversing_address(ints, address):
    """The address of the block that goes back over the one that records at `address`."""
    last = ints.shape[0] - 1
    reversing = 0
    for i in range(ints[last]):
        at = last - 2 * (i + 1)
        if ints[at] == address:
            reversing = ints[at + 1]
    return reversing


def reverse_listed(p_root, d_root, held_h_root, y_root, h_root, c_root, tape):
    """Go back over a listed block, whose address is on the tape: the adjoint of the time."""
    time_bar = zeros(1)
    call_reverse(int(pop(tape)), (y_root, p_root, d_root, h_root, c_root, tape, time_bar))
    return time_bar[0]


@recorded_by(call_listed, reverse_listed)
def record_listed(*arguments):
    """Call a listed block, on the tape; `arguments` are a `RecordedCall`."""
    call = RecordedCall(*arguments)
    held, block = call.held, call.block
    call_record(
        block.address,
        call.t, call.y, held.p, held.d, held.k, call.h, call.c, held.ints, block.start, block.rows,
        call.t_dot, call.y_dot, call.p_dot, call.d_dot, call.h_dot, call.c_dot,
        call.y_at, call.p_at, call.d_at, call.h_at, call.c_at, call.tape,
    )  # fmt: skip
    push(call.tape, reversing_address(held.ints, block.address) * 1.0)
