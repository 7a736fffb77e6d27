"""Recording what holds witnesses: the blocks that it lists are recorded as those of a walk.

Behind its numbers the array ``ints`` of a recorded field has, for each block that records, its address and
that of the block that goes back; then how many such pairs there are.
"""

from __future__ import annotations

from cosim.recorded_walk import call_record, call_reverse
from cosim.step.sliding_field import call_listed
from cosim_compiler.derivatives.own_tangents import recorded_by
from cosim_compiler.derivatives.tape_ends import pop, push
from cosim_compiler.tables import zeros


def reversing_address(ints, address):
    """The address of the block that goes back over one that records."""
    last = ints.shape[0] - 1
    record = 0
    for i in range(ints[last]):
        at = last - 2 * (i + 1)
        if ints[at] == address:
            record = ints[at + 1]
    return record


def reverse_listed(p_root, d_root, past_root, y_root, h_root, c_root, tape):
    """Go back over a listed block: the adjoint of the time."""
    bars = zeros(1)
    call_reverse(int(pop(tape)), (y_root, p_root, d_root, h_root, c_root, tape, bars))
    return bars[0]


@recorded_by(call_listed, reverse_listed)
def record_listed(*arguments):
    """Call `call_listed`, on the tape.

    `arguments` are its own, the tangents of p, d, the histories, t, y, h and c, the places of these views in
    their roots, and the tape.
    """
    a, block, t, y, h, c = arguments[0:6]
    p_dot, d_dot = arguments[6:8]
    t_dot, y_dot, h_dot, c_dot = arguments[9:13]
    p_at, d_at = arguments[13:15]
    y_at, h_at, c_at = arguments[16:19]
    tape = arguments[19]
    call_record(
        block.address, t, y, a.p, a.d, a.k, h, c, a.ints, block.start, block.rows,
        t_dot, y_dot, p_dot, d_dot, h_dot, c_dot, y_at, p_at, d_at, h_at, c_at, tape,
    )  # fmt: skip
    push(tape, reversing_address(a.ints, block.address) * 1.0)
