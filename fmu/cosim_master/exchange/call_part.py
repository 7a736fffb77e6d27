"""Calls of the C functions of a participant; meanwhile its record (`Part.calling`) names the function."""

from __future__ import annotations

from cosim.kit import call_with_array, call_with_interval, integers_at
from cosim_fmi.binding.rounding import restore_rounding
from cosim_fmi.binding.statuses import OK, is_bad
from cosim_master.exchange.exchange_arrays import (
    FREEING,
    LEADING,
    NOTHING,
    READING,
    RESTORING,
    SAVING,
    SETTING,
    STEPPING,
)


def end_call(part):
    """Mark the end of a call of the participant."""
    restore_rounding(part.rounding_at)
    part.calling = NOTHING


def write_part(part, at):
    """Write inputs, whose values are at an address; returns a status."""
    if part.inputs == 0:
        return OK
    part.calling = SETTING
    status = call_with_array(
        part.set_at, part.access, part.input_references, part.input_count, at, part.inputs
    )
    end_call(part)
    return status


def lead_part(part, at):
    """Write slopes of the inputs, which are at an address; returns a status."""
    if part.inputs == 0:
        return OK
    part.calling = LEADING
    status = call_with_array(
        part.set_slopes_at, part.instance, part.input_references, part.inputs, part.slope_orders, at
    )
    end_call(part)
    return status


def step_part(part, begin, length, at):
    """Step, and write flags and the time reached to an address (`NativeCalls.step`); returns a status."""
    part.calling = STEPPING
    status = call_with_interval(part.step_at, part.instance, begin, length, 1, at, at + 8, at + 16, at + 24)
    end_call(part)
    return status


def read_part(part, at):
    """Read outputs to an address; returns a status."""
    if part.outputs == 0:
        return OK
    part.calling = READING
    status = call_with_array(
        part.get_at, part.access, part.output_references, part.output_count, at, part.outputs
    )
    end_call(part)
    return status


def save_part(part):
    """Save the state, and free the one saved before; returns a status."""
    state = integers_at(part.state_at, 1)
    status = OK
    if part.free_at != 0 and state[0] != 0:
        part.calling = FREEING
        status = call_with_array(part.free_at, part.instance, part.state_at, 0, 0, 0)
        state[0] = 0
    if not is_bad(status):
        part.calling = SAVING
        status = call_with_array(part.save_at, part.instance, part.state_at, 0, 0, 0)
    end_call(part)
    return status


def restore_part(part):
    """Restore the saved state. Returns a status."""
    part.calling = RESTORING
    status = call_with_array(part.restore_at, part.instance, integers_at(part.state_at, 1)[0], 0, 0, 0)
    end_call(part)
    return status
