"""C functions that write, advance and read Model Exchange FMUs which a `Simulator` integrates.

A handle is the address of a `MembersRun`, which all FMUs of one system share. The functions make the same
calls as the methods of the participants.
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
    copy_words,
    hold_lines,
    restore_arrays,
    save_arrays,
)


class MembersRun(Record):
    """The run of the FMUs that are solved as one system, and the outcomes of the last calls."""

    step: int  # address of the head of the Step's arrays
    evaluation: int  # address of the head of `system_calls`
    z: int  # the first place in y of the states of the FMUs, each divided by its scale
    scale: int  # the first place in d of these scales
    u: int  # the first place in d of the inputs
    inputs: int  # number of inputs
    is_settled: int  # whether the FMUs are at the present point
    needs_python: int  # whether Python has stored values inside the step, or its memory, and finishes it
    is_at_boundary: int  # whether the last code of the Step concerns events at the end of the step
    settle_answer: int  # the code of `system_calls.settle` for the last reading, 0 for success
    read_status: int  # the status of the last reading if it failed, else 0
    event_outputs: int  # number of `EventOutputs`
    event_outputs_at: int  # address of the first
    input_lists: int  # number of the lists of inputs: one for each member
    input_lists_at: int  # address of pairs: the address of the last values of a list, and their number
    is_saved: int  # whether a state has been saved
    is_memory_saved: int  # whether Python has saved its memory since then, because of an event
    events_when_saved: int  # events of the run until then


class Reading(Record):
    """A call of an FMU that reads variables, and the places of the requested values."""

    function: int  # address
    instance: int
    references: int  # address of the value references
    reference_count: int
    buffer: int  # address to which the FMU writes; 0: to the requested places at once
    value_count: int  # values that the FMU writes
    places: int  # address of a list with the address of each requested value, which may be an inner input


class EventOutputs(Record):
    """A call of an FMU that reads outputs that are passed on at events alone, and their last values."""

    function: int  # address
    instance: int
    references: int  # address of the value references
    reference_count: int
    buffer: int  # address to which the FMU writes
    value_count: int  # values that it writes
    last: int  # address of the values of the last comparison; NaN: none since the last event


class SavedMember(Record):
    """A saved state of a member; the last member's has the arrays of the run, too."""

    at: int  # its own address
    save: int  # address of the FMU's function; 0: time, states and inputs are the whole state
    restore: int  # address of the FMU's function, or 0
    free: int  # address of the FMU's function, or 0
    instance: int
    state_at: int  # address at which the FMU's pointer to its saved state lies
    run_copy: int  # address of the copy of the run's arrays; 0: the last member has it
    more: int  # number of arrays that are saved besides those of the run
    more_at: int  # address of their rows: ADDRESS, LENGTH, COPY


REAL = 8
"""Bytes of a real."""
RUN_WIDTH, READING_WIDTH, OUTPUTS_WIDTH, SAVED_WIDTH = (
    width_of(record) for record in (MembersRun, Reading, EventOutputs, SavedMember)
)
ADDRESS, LENGTH, COPY, ROW_WIDTH = range(4)
"""The row of a further array that is saved: its address, its number of words, the address of its copy."""


def run_at(handle):
    """The run of the members whose address a handle is."""
    return rows_of(MembersRun, integers_at(handle, RUN_WIDTH), 0, 1)[0]


def set_members(handle, inputs, count, values, size):
    """Write inputs of a member; discrete ones that have changed are left to Python."""
    run = run_at(handle)
    run.is_settled = 0
    return called_set(run.step, inputs, count, values, size)


def follow_members(handle, inputs, count, orders, slopes):
    """Let inputs of a member run along lines, per s."""
    run = run_at(handle)
    run.is_settled = 0
    return called_slopes(run.step, inputs, count, orders, slopes)


def step_members(handle, start, length, flag, first, second, third, fourth):
    """Integrate to ``start + length`` through all events, those that are due there, too.

    Returns DONE, or NOT_DONE if Python continues with the code in ``head[ANSWER]``.
    """
    run = run_at(handle)
    run.is_at_boundary = 0
    head = integers_at(run.step, WHOLE_HEAD)
    head[ANSWER] = STEPPED
    integers_at(run.evaluation, system_calls.SIZE)[LOST] = NOT_LOST
    if head[BOUND] == 0 or compare_event_outputs(run):
        return NOT_DONE
    run.is_settled = 0
    a = arrays_at(run.step)
    a.course.most_steps = STRIDE
    a.options.meeting = 0.0
    code = advance_run(a, start + length)
    if code == REACHED:
        run.is_at_boundary = 1
        a.course.most_steps = 1
        code = advance_run(a, a.clock.time)
    head[ANSWER] = code
    if code != REACHED:
        return NOT_DONE
    hold_lines(a, integers_at(head[LINES_AT], LINE_WIDTH * head[LINES]))
    return NOT_DONE if run.needs_python != 0 or has_stopped(run) else DONE


def has_stopped(run):
    """Whether an FMU has asked for the end of the run."""
    count = integers_at(run.evaluation, system_calls.SIZE)[system_calls.INSTANCES]
    stopped = False
    for i in range(count):
        stopped = stopped or integers_at(block_of(run.evaluation, i), STOPPED + 1)[STOPPED] != 0
    return stopped


def compare_event_outputs(run):
    """Read outputs that are passed on at events alone. Returns whether one has changed, or cannot be read."""
    if run.event_outputs == 0:
        return False
    if settle_members(run) != DONE:
        return True
    changed = False
    rows = rows_of(
        EventOutputs,
        integers_at(run.event_outputs_at, OUTPUTS_WIDTH * run.event_outputs),
        0,
        run.event_outputs,
    )
    for row in rows:
        status = call_with_array(
            row.function, row.instance, row.references, row.reference_count, row.buffer, row.value_count
        )
        if is_bad(status):
            return True
        present = reals_at(row.buffer, row.value_count)
        last = reals_at(row.last, row.value_count)
        for i in range(row.value_count):
            changed = changed or present[i] != last[i]
            last[i] = present[i]
    return changed


def get_member(handle, reading, count, values, size):
    """Read variables of a member at the present point."""
    run = run_at(handle)
    run.read_status = 0
    if settle_members(run) != DONE:
        return NOT_DONE
    row = rows_of(Reading, integers_at(reading, READING_WIDTH), 0, 1)[0]
    if row.value_count > 0:
        status = call_with_array(
            row.function,
            row.instance,
            row.references,
            row.reference_count,
            row.buffer if row.buffer != 0 else values,
            row.value_count,
        )
        if is_bad(status):
            run.read_status = status
            return NOT_DONE
    if row.buffer != 0:
        results = reals_at(values, count)
        places = integers_at(row.places, count)
        for i in range(count):
            results[i] = reals_at(places[i], 1)[0]
    return DONE


def settle_members(run):
    """Move the FMUs to the present point."""
    run.settle_answer = 0
    head = integers_at(run.step, WHOLE_HEAD)
    if head[BOUND] == 0:
        return NOT_DONE
    if run.is_settled != 0:
        return DONE
    a = arrays_at(run.step)
    rows = integers_at(head[LINES_AT], LINE_WIDTH * head[LINES])
    for i in range(head[LINES]):
        slope = a.d[rows[LINE_WIDTH * i + SLOPE]]
        if slope == slope:  # an input runs along a line, and only the cache has its present value
            return NOT_DONE
    evaluation = integers_at(run.evaluation, system_calls.SIZE)
    put_point(
        a.clock.time,
        a.y[run.z : run.z + evaluation[system_calls.STATES]],
        a.d[run.u : run.u + run.inputs],
        a.d[run.scale : run.scale + evaluation[system_calls.STATES]],
        float(run.evaluation),
    )
    evaluation[REMEMBERS] = 1
    run.settle_answer = system_calls.settle(run.evaluation, 0, 0, 0, 0)
    evaluation[REMEMBERS] = 0
    if run.settle_answer != 0:
        return NOT_DONE
    run.is_settled = 1
    return DONE


def save_member(handle, state, unused_count, unused_values, unused_size):
    """Save a member, and with the last one the run; `state` is the address of a `SavedMember`."""
    run = run_at(handle)
    saved = rows_of(SavedMember, integers_at(state, SAVED_WIDTH), 0, 1)[0]
    if saved.save != 0:
        status = 0
        if integers_at(saved.state_at, 1)[0] != 0:
            status = call_with_array(saved.free, saved.instance, saved.state_at, 0, 0, 0)
            integers_at(saved.state_at, 1)[0] = 0
        if not is_bad(status):
            status = call_with_array(saved.save, saved.instance, saved.state_at, 0, 0, 0)
        if is_bad(status):
            return status
    if saved.run_copy != 0:
        save_arrays(integers_at(run.step, WHOLE_HEAD), saved.run_copy)
        save_more(saved)
        run.is_saved = 1
        run.is_memory_saved = 0
        run.events_when_saved = arrays_at(run.step).counts.events
    return DONE


def restore_member(handle, state, unused_count, unused_values, unused_size):
    """Restore the state, after Python has restored its memory."""
    run = run_at(handle)
    saved = rows_of(SavedMember, integers_at(state, SAVED_WIDTH), 0, 1)[0]
    if saved.restore != 0:
        fmu_state = integers_at(saved.state_at, 1)[0]
        status = call_with_array(saved.restore, saved.instance, fmu_state, 0, 0, 0)
        if is_bad(status):
            return status
    if saved.run_copy != 0:
        restore_arrays(integers_at(run.step, WHOLE_HEAD), saved.run_copy)
        restore_more(saved)
        run.is_settled = 0
        count = integers_at(run.evaluation, system_calls.SIZE)[system_calls.INSTANCES]
        for i in range(count):
            forget(block_of(run.evaluation, i))
        rows = integers_at(run.input_lists_at, 2 * run.input_lists)
        for i in range(run.input_lists):
            values = reals_at(rows[2 * i], rows[2 * i + 1])
            for j in range(rows[2 * i + 1]):
                values[j] = math.nan  # the values of inputs are not known any more
    return DONE


def save_more(saved):
    """Save the arrays that are saved besides those of the run."""
    rows = integers_at(saved.more_at, ROW_WIDTH * saved.more)
    for i in range(saved.more):
        row = ROW_WIDTH * i
        copy_words(rows[row + ADDRESS], rows[row + COPY], rows[row + LENGTH])


def restore_more(saved):
    """Restore the arrays that are saved besides those of the run."""
    rows = integers_at(saved.more_at, ROW_WIDTH * saved.more)
    for i in range(saved.more):
        row = ROW_WIDTH * i
        copy_words(rows[row + COPY], rows[row + ADDRESS], rows[row + LENGTH])


ENTRIES: dict[Any, str] = {
    set_members: ARRAY_CALL,
    follow_members: ARRAY_CALL,
    get_member: ARRAY_CALL,
    step_members: STEP_CALL,
    save_member: ARRAY_CALL,
    restore_member: ARRAY_CALL,
}
"""The functions that C calls, with their signatures."""
