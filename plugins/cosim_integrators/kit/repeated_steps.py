"""Steps in one call from Python, which passes one address in place of all arrays."""

from __future__ import annotations

from typing import NamedTuple

from cosim.kit import (
    DONE,
    Integers,
    MethodArrays,
    OdeSystem,
    Reals,
    Record,
    by_address,
    call_step,
    group_reader,
    rows_of,
)

Table = Integers
ADVANCE_SIGNATURE = "I>i"


class RequestedSteps(Record):
    """Which steps one call takes: the address of the step, how many, the rows of the derivative."""

    step: int
    most: int
    first: int
    last: int


class RequestedTimes(Record):
    """The time span of one call, and the limit of the next step, s."""

    start: float
    stop: float
    limit: float


class StepArrays(NamedTuple):
    """The arrays of a system, of its State and of a method, in the order in which a step takes them.

    The last two hold the request of one call (`RequestedSteps`, `RequestedTimes`). It is passed in arrays,
    since each argument of a call from Python costs a tenth of a microsecond.
    """

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
    requested_steps: Integers
    requested_times: Reals


read_step_arrays = group_reader(StepArrays)


def advance(head):
    """Take the requested steps of any method, by the address of its step; returns the last code."""
    a = read_step_arrays(head)
    requested = rows_of(RequestedSteps, a.requested_steps, 0, 1)[0]
    times = rows_of(RequestedTimes, a.requested_times, 0, 1)[0]
    system = OdeSystem(a.table, a.ints, requested.first, requested.last, a.y, a.p, a.d, a.k, a.h, a.c)
    method = MethodArrays(a.y.shape[0], a.coefficients, a.settings, a.memory, a.work, a.slots)
    t = times.start
    code = DONE
    for _ in range(requested.most):
        code = call_step(requested.step, by_address(system, method, t) + (times.stop, times.limit))
        if code != DONE:
            break
        t = method.work.end
        if t >= times.stop:
            break
    return code
