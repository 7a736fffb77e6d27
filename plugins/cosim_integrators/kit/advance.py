"""Many steps in one call from Python."""

from __future__ import annotations

from cosim.kit import DONE, END, call_step

ADVANCE_SIGNATURE = "iiTIiifFFFIFFFFFFIff>i"


def advance(
    address,
    most,
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
    coefficients,
    settings,
    memory,
    work,
    slots,
    t_stop,
    limit,
):
    """Steps of any method, by the address of its step, until `t_stop` or so many; the last code."""
    code = DONE
    for _ in range(most):
        arguments = (table, ints, first, last, t, y, p, d, k, h, c)
        method = (coefficients, settings, memory, work, slots, t_stop, limit)
        code = call_step(address, arguments + method)
        if code != DONE:
            break
        t = work[END]
        if t >= t_stop:
            break
    return code
