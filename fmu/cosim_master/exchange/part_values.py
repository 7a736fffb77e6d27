"""Inputs and outputs of a participant in the arrays of the machine, written and read by the interpreter."""

from __future__ import annotations

from cosim_fmi.binding.statuses import is_bad
from cosim_master.algorithms.exchange_layout import END, LENGTH, MIDDLE, SIZE, SLOPE
from cosim_master.coupling.link import EXACT, ONLY_BOOLEANS, ONLY_EXACT, convert_value
from cosim_master.exchange.call_part import lead_part, read_part, write_part
from cosim_master.exchange.exchange_arrays import ENDS, SLOPES, links_of, report_of
from cosim_master.exchange.stop_codes import DONE, NOT_FINITE, READ_FAILED, SET_FAILED, SLOPES_FAILED


def set_held(machine, part):
    """Write the inputs of a participant from the outputs that were read."""
    slots = len(links_of(machine))
    for slot in range(part.first_input, part.first_input + part.inputs):
        link = links_of(machine)[slot]
        value = converted(machine, slot, machine.outputs[link.source])
        if not is_passed_on(link, value):
            return NOT_FINITE
        machine.inputs[slot] = value
        machine.inputs[SLOPES * slots + slot] = 0.0
    return write_inputs(machine, part)


def converted(machine, slot, value):
    """The value of an output in the unit and the mapping of an input."""
    link = links_of(machine)[slot]
    mapped = machine.pairs[2 * link.first_pair : 2 * (link.first_pair + link.pairs)]
    return convert_value(value, mapped, machine.scales[2 * slot], machine.scales[2 * slot + 1])


def is_passed_on(link, value):
    """Whether an input accepts the value, by the same rules as `Link.fault`."""
    if value - value != 0.0:
        return False
    if link.check == ONLY_EXACT:
        return abs(value) < EXACT
    return link.check != ONLY_BOOLEANS or value == 0.0 or value == 1.0


def write_inputs(machine, part):
    """Write the present inputs of a participant."""
    status = write_part(part, report_of(machine).inputs_at + 8 * part.first_input)
    report_of(machine).status = status
    return SET_FAILED if is_bad(status) else DONE


def set_along(machine, algorithm, part):
    """Write the inputs of a participant for an exchange over which the interface runs along lines.

    A participant that follows slopes receives the value at the start, all others the middle.
    """
    slots = len(links_of(machine))
    n = algorithm.counts[SIZE]
    length = algorithm.numbers[LENGTH]
    follows = part.set_slopes_at != 0
    for slot in range(part.first_input, part.first_input + part.inputs):
        link = links_of(machine)[slot]
        k = link.line
        value = machine.outputs[link.source]
        slope = 0.0
        if k >= 0:
            value = algorithm.table[MIDDLE * n + k]
            if follows:
                slope = machine.scales[2 * slot] * algorithm.table[SLOPE * n + k]
                value = value - 0.5 * length * algorithm.table[SLOPE * n + k]
        value = converted(machine, slot, value)
        if not is_passed_on(link, value):
            return NOT_FINITE
        machine.inputs[slot] = value
        machine.inputs[SLOPES * slots + slot] = slope
    stop = write_inputs(machine, part)
    if stop != DONE or not follows:
        return stop
    status = lead_part(part, report_of(machine).inputs_at + 8 * (SLOPES * slots + part.first_input))
    report_of(machine).status = status
    return SLOPES_FAILED if is_bad(status) else DONE


def set_end(machine, algorithm, part):
    """Set the inputs at the end of an exchange; they are written if outputs depend directly on them."""
    slots = len(links_of(machine))
    n = algorithm.counts[SIZE]
    for slot in range(part.first_input, part.first_input + part.inputs):
        link = links_of(machine)[slot]
        value = machine.outputs[link.source] if link.line < 0 else algorithm.table[END * n + link.line]
        value = converted(machine, slot, value)
        if not is_passed_on(link, value):
            return NOT_FINITE
        machine.inputs[slot] = value
        machine.inputs[SLOPES * slots + slot] = 0.0
        if part.rereads_inputs != 0:
            machine.inputs[ENDS * slots + slot] = value
    return DONE if part.rereads_inputs == 0 else write_inputs(machine, part)


def read(machine, part):
    """Read the outputs of a participant."""
    status = read_part(part, report_of(machine).outputs_at + 8 * part.first_output)
    report_of(machine).status = status
    return READ_FAILED if is_bad(status) else DONE
