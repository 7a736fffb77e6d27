"""Many steps in one call from Python."""

from __future__ import annotations

from cosim.kit import DONE, MethodArrays, OdeSystem, by_address, call_step

ADVANCE_SIGNATURE = "iiTIiifFFFIFFFFFFIff>i"


def advance(
    address, most, table, ints, first, last, t, y, p, d, k, h, c,
    coefficients, settings, memory, work, slots, t_stop, limit,
):  # fmt: skip
    """Take steps of any method, by the address of its step, until `t_stop` or so many; the last code."""
    system = OdeSystem(table, ints, first, last, y, p, d, k, h, c)
    method = MethodArrays(y.shape[0], coefficients, settings, memory, work, slots)
    code = DONE
    for _ in range(most):
        code = call_step(address, by_address(system, method, t) + (t_stop, limit))
        if code != DONE:
            break
        t = method.work.end
        if t >= t_stop:
            break
    return code
