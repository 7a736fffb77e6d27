"""Steps in one call from Python, which passes one address in place of all arrays."""

from __future__ import annotations

from typing import NamedTuple

from cosim.kit import DONE, Integers, MethodArrays, OdeSystem, Reals, by_address, call_step, group_reader

Table = Integers
ADVANCE_SIGNATURE = "Iiiiifff>i"


class StepArrays(NamedTuple):
    """The arrays of a system, of its State and of a method, in the order in which a step takes them."""

    table: Table
    ints: Integers
    y: Reals
    p: Reals
    d: Reals
    k: Integers
    h: Reals
    c: Reals
    coefficients: Reals
    settings: Reals
    memory: Reals
    work: Reals
    slots: Integers


read_step_arrays = group_reader(StepArrays)


def advance(head, address, most, first, last, t, t_stop, limit):
    """Take steps of any method, by the address of its step, until `t_stop` or so many; the last code."""
    a = read_step_arrays(head)
    system = OdeSystem(a.table, a.ints, first, last, a.y, a.p, a.d, a.k, a.h, a.c)
    method = MethodArrays(a.y.shape[0], a.coefficients, a.settings, a.memory, a.work, a.slots)
    code = DONE
    for _ in range(most):
        code = call_step(address, by_address(system, method, t) + (t_stop, limit))
        if code != DONE:
            break
        t = method.work.end
        if t >= t_stop:
            break
    return code
