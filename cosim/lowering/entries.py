"""The entry points: functions of all arrays (`arrays.ARRAYS`) and a time, as a shell in C calls them."""

from __future__ import annotations

from cosim.lowering.arrays import Arrays
from cosim.lowering.run import advance, evaluate, finish, initialize

# fmt: off


def lowered_initialize(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, probe, places, t,
):
    """The 0th step, at `t`."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, probe, places,
    )
    return initialize(a, t)


def lowered_advance(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, probe, places, t,
):
    """Steps until `t`."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, probe, places,
    )
    return advance(a, t)


def lowered_evaluate(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, probe, places, t,
):
    """Everything up to the outputs for the present state, at `t`."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, probe, places,
    )
    return evaluate(a, t)


def lowered_finish(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, probe, places, t,
):
    """Termination; `t` is not looked at."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, probe, places,
    )
    return finish(a)
