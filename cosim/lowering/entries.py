"""The entry points: functions of all arrays (`arrays.ARRAYS`) and a time, as a shell in C calls them."""

from __future__ import annotations

from cosim.lowering.accuracy import set_accuracy
from cosim.lowering.arrays import Arrays
from cosim.lowering.exchange import complete_step, handle_events
from cosim.lowering.restored import check_state
from cosim.lowering.run import advance, advance_once, evaluate, finish, initialize

# fmt: off


def lowered_initialize(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, held_table, held_ints, probe, places, t,
):
    """The 0th step, at `t`."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, held_table, held_ints, probe, places,
    )
    return initialize(a, t)


def lowered_advance(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, held_table, held_ints, probe, places, t,
):
    """Steps until `t`."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, held_table, held_ints, probe, places,
    )
    return advance(a, t)


def lowered_evaluate(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, held_table, held_ints, probe, places, t,
):
    """Everything up to the outputs for the present state, at `t`."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, held_table, held_ints, probe, places,
    )
    return evaluate(a, t)


def lowered_finish(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, held_table, held_ints, probe, places, t,
):
    """Termination; `t` is not looked at."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, held_table, held_ints, probe, places,
    )
    return finish(a)


def lowered_step(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, held_table, held_ints, probe, places, t,
):
    """One step toward `t`: STEPPED, or REACHED when that is where it ended."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, held_table, held_ints, probe, places,
    )
    return advance_once(a, t)


def lowered_completed(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, held_table, held_ints, probe, places, t,
):
    """Model Exchange: a step has been completed at `t`."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, held_table, held_ints, probe, places,
    )
    return complete_step(a, t)


def lowered_event(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, held_table, held_ints, probe, places, t,
):
    """Model Exchange: the events of `t`."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, held_table, held_ints, probe, places,
    )
    return handle_events(a, t)


def lowered_check(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, held_table, held_ints, probe, places, t,
):
    """Whether a state that was put back can be one of this program; `t` is not looked at."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, held_table, held_ints, probe, places,
    )
    return check_state(a)


def lowered_accuracy(
    table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory, agenda,
    clock, work, scratch, held_table, held_ints, probe, places, t,
):
    """Before `lowered_initialize`, and after a state was put back: the accuracy is `t`."""
    a = Arrays(
        table, ints, watched, program, numbers, coefficients, settings, slots, y, p, d, k, h, c, memory,
        agenda, clock, work, scratch, held_table, held_ints, probe, places,
    )
    return set_accuracy(a, t)
