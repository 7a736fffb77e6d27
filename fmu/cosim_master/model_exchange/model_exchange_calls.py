"""Model Exchange FMUs that a `Simulator` integrates, as others call them: functions of numbers alone.

A handle is the address of a record, `Called`; all FMUs that are solved as one system have the same. The
functions write, advance and read as the methods of the participants do, call for call.
"""

from __future__ import annotations

import math
from typing import Any

from cosim.kit import (
    REACHED,
    STEPPED,
    WHOLE_HEAD,
    Record,
    advance_run,
    arrays_at,
    call_with_array,
    integers_at,
    reals_at,
    rows_of,
    width_of,
)
from cosim_fmi.binding.statuses import is_bad
from cosim_fmi.model_exchange.instance_calls import STOPPED, forget
from cosim_master.model_exchange import system_calls
from cosim_master.model_exchange.model_exchange_system import put_point
from cosim_master.model_exchange.system_calls import LOST, NOT_LOST, REMEMBERS, block_of
from cosim_master.model_exchange.system_calls_by_address import (
    ANSWER,
    ARRAY_CALL,
    BOUND,
    DONE,
    LINE_WIDTH,
    LINES,
    LINES_AT,
    NOT_DONE,
    SLOPE,
    STEP_CALL,
    STRIDE,
    called_set,
    called_slopes,
    copy_arrays,
    hold_lines,
)


class Called(Record):
    """The progress of the run, and the outcome of the last calls."""

    step: int  # the head of the Step
    evaluation: int  # that of `system_calls`
    z: int  # where in y the states lie
    scale: int  # where in d their units lie
    u: int  # where in d the inputs lie
    inputs: int  # so many
    is_settled: int  # the instances are at the present point
    is_noted: int  # values inside a step wait in Python
    is_pending: int  # the answer of the Step is that about events at the end of a step
    settled: int  # what settling has answered last
    status: int  # of the FMU that was read last
    compared: int  # how many accesses give what is passed on at events alone
    compared_at: int  # where these lie
    given: int  # how many lists of inputs there are
    given_at: int  # for each of them the address of the values that were written last, and how many
    is_saved: int  # a state has been saved
    is_remembered: int  # Python has handled an event since then
    saved_events: int  # how many events there had been then


class Reading(Record):
    """A call of an FMU that reads variables; between FMUs those of some inputs lie with us already."""

    function: int
    instance: int
    references: int
    reference_count: int
    buffer: int  # address of what it reads into; 0: at once into the requested places
    read: int  # so many values
    places: int  # for each requested value its address


class Compared(Record):
    """A call of an FMU that reads what is passed on at events, and what was read when that was done last."""

    function: int
    instance: int
    references: int
    reference_count: int
    buffer: int
    read: int
    last: int


class Kept(Record):
    """A saved state of a member; with the last one that of the run."""

    at: int  # its own address
    save: int  # functions of the FMU; 0: time, states and inputs are all of it
    restore: int
    free: int
    instance: int
    state_at: int  # where the state lies that the FMU has saved
    run: int  # where the arrays of the run are kept; 0: another member has them
    more: int  # how many arrays there are besides
    more_at: int  # their addresses and lengths, and where each is kept


REAL = 8
CALLED, READING, COMPARED, KEPT = (width_of(cls) for cls in (Called, Reading, Compared, Kept))
ADDRESS, LENGTH, COPY, MORE = range(4)
"""Of an array that is kept besides those of the run."""


def called_at(handle):
    """The record `Called` that a handle is the address of."""
    return rows_of(Called, integers_at(handle, CALLED), 0, 1)[0]


def set_members(handle, inputs, count, values, size):
    """Write inputs of a member; discrete ones that have changed are left to Python."""
    called = called_at(handle)
    called.is_settled = 0
    return called_set(called.step, inputs, count, values, size)


def follow_members(handle, inputs, count, orders, slopes):
    """Let inputs of a member run along lines, per s."""
    called = called_at(handle)
    called.is_settled = 0
    return called_slopes(called.step, inputs, count, orders, slopes)


def step_members(handle, start, length, flag, first, second, third, fourth):
    """Integrate to ``start + length`` through all events, those that are due there, too.

    NOT_DONE: Python goes on with what is in ``head[ANSWER]``.
    """
    called = called_at(handle)
    called.is_pending = 0
    head = integers_at(called.step, WHOLE_HEAD)
    head[ANSWER] = STEPPED
    integers_at(called.evaluation, system_calls.SIZE)[LOST] = NOT_LOST
    if head[BOUND] == 0 or has_changed(called):
        return NOT_DONE
    called.is_settled = 0
    a = arrays_at(called.step)
    a.course.most_steps = STRIDE
    a.options.meeting = 0.0
    code = advance_run(a, start + length)
    if code == REACHED:
        called.is_pending = 1
        a.course.most_steps = 1
        code = advance_run(a, a.clock.time)
    head[ANSWER] = code
    if code != REACHED:
        return NOT_DONE
    hold_lines(a, integers_at(head[LINES_AT], LINE_WIDTH * head[LINES]))
    return NOT_DONE if called.is_noted != 0 or has_stopped(called) else DONE


def has_stopped(called):
    """Whether an FMU has asked for the end of the run."""
    count = integers_at(called.evaluation, system_calls.SIZE)[system_calls.INSTANCES]
    stopped = False
    for i in range(count):
        stopped = stopped or integers_at(block_of(called.evaluation, i), STOPPED + 1)[STOPPED] != 0
    return stopped


def has_changed(called):
    """Whether a value that is passed on at events alone has changed since then, or cannot be read."""
    if called.compared == 0:
        return False
    if settle_members(called) != DONE:
        return True
    changed = False
    rows = rows_of(Compared, integers_at(called.compared_at, COMPARED * called.compared), 0, called.compared)
    for row in rows:
        status = call_with_array(
            row.function, row.instance, row.references, row.reference_count, row.buffer, row.read
        )
        if is_bad(status):
            return True
        present = reals_at(row.buffer, row.read)
        last = reals_at(row.last, row.read)
        for i in range(row.read):
            changed = changed or present[i] != last[i]
            last[i] = present[i]
    return changed


def get_members(handle, reading, count, values, size):
    """Read variables of a member at the present point."""
    called = called_at(handle)
    called.status = 0
    if settle_members(called) != DONE:
        return NOT_DONE
    row = rows_of(Reading, integers_at(reading, READING), 0, 1)[0]
    if row.read > 0:
        status = call_with_array(
            row.function,
            row.instance,
            row.references,
            row.reference_count,
            row.buffer if row.buffer != 0 else values,
            row.read,
        )
        if is_bad(status):
            called.status = status
            return NOT_DONE
    if row.buffer != 0:
        results = reals_at(values, count)
        places = integers_at(row.places, count)
        for i in range(count):
            results[i] = reals_at(places[i], 1)[0]
    return DONE


def settle_members(called):
    """Make the present point that at which variables are read."""
    called.settled = 0
    head = integers_at(called.step, WHOLE_HEAD)
    if head[BOUND] == 0:
        return NOT_DONE
    if called.is_settled != 0:
        return DONE
    a = arrays_at(called.step)
    rows = integers_at(head[LINES_AT], LINE_WIDTH * head[LINES])
    for i in range(head[LINES]):
        slope = a.d[rows[LINE_WIDTH * i + SLOPE]]
        if slope == slope:  # on its way: the cache has the present value
            return NOT_DONE
    evaluation = integers_at(called.evaluation, system_calls.SIZE)
    put_point(
        a.clock.time,
        a.y[called.z : called.z + evaluation[system_calls.STATES]],
        a.d[called.u : called.u + called.inputs],
        a.d[called.scale : called.scale + evaluation[system_calls.STATES]],
        float(called.evaluation),
    )
    evaluation[REMEMBERS] = 1
    called.settled = system_calls.settle(called.evaluation, 0, 0, 0, 0)
    evaluation[REMEMBERS] = 0
    if called.settled != 0:
        return NOT_DONE
    called.is_settled = 1
    return DONE


def save_member(handle, state, no, arrays, nothing):
    """Save a member, and with the last one the run; at `state` lies a `Kept`."""
    called = called_at(handle)
    kept = rows_of(Kept, integers_at(state, KEPT), 0, 1)[0]
    if kept.save != 0:
        status = 0
        if integers_at(kept.state_at, 1)[0] != 0:
            status = call_with_array(kept.free, kept.instance, kept.state_at, 0, 0, 0)
            integers_at(kept.state_at, 1)[0] = 0
        if not is_bad(status):
            status = call_with_array(kept.save, kept.instance, kept.state_at, 0, 0, 0)
        if is_bad(status):
            return status
    if kept.run != 0:
        copy_arrays(integers_at(called.step, WHOLE_HEAD), kept.run, True)
        copy_more(kept, True)
        called.is_saved = 1
        called.is_remembered = 0
        called.saved_events = arrays_at(called.step).counts.events
    return DONE


def restore_member(handle, state, no, arrays, nothing):
    """Restore the state, after Python has restored its memory."""
    called = called_at(handle)
    kept = rows_of(Kept, integers_at(state, KEPT), 0, 1)[0]
    if kept.restore != 0:
        saved = integers_at(kept.state_at, 1)[0]
        status = call_with_array(kept.restore, kept.instance, saved, 0, 0, 0)
        if is_bad(status):
            return status
    if kept.run != 0:
        copy_arrays(integers_at(called.step, WHOLE_HEAD), kept.run, False)
        copy_more(kept, False)
        called.is_settled = 0
        count = integers_at(called.evaluation, system_calls.SIZE)[system_calls.INSTANCES]
        for i in range(count):
            forget(block_of(called.evaluation, i))
        rows = integers_at(called.given_at, 2 * called.given)
        for i in range(called.given):
            values = reals_at(rows[2 * i], rows[2 * i + 1])
            for j in range(rows[2 * i + 1]):
                values[j] = math.nan  # inputs may be anywhere
    return DONE


def copy_more(kept, away):
    """Copy the words that are stored besides the arrays of the run, away or back."""
    rows = integers_at(kept.more_at, MORE * kept.more)
    for i in range(kept.more):
        words = integers_at(rows[MORE * i + ADDRESS], rows[MORE * i + LENGTH])
        copy = integers_at(rows[MORE * i + COPY], rows[MORE * i + LENGTH])
        for j in range(rows[MORE * i + LENGTH]):
            if away:
                copy[j] = words[j]
            else:
                words[j] = copy[j]


ENTRIES: dict[Any, str] = {
    set_members: ARRAY_CALL,
    follow_members: ARRAY_CALL,
    get_members: ARRAY_CALL,
    step_members: STEP_CALL,
    save_member: ARRAY_CALL,
    restore_member: ARRAY_CALL,
}
"""The functions that C calls, with their signatures."""
