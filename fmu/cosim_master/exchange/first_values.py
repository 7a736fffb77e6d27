"""The values at the start of a run without Python: passed on until all agree, then exchanged once."""

from __future__ import annotations

from cosim.kit import call_with_array, integers_at
from cosim_fmi.binding.rounding import restore_rounding
from cosim_fmi.binding.statuses import is_bad
from cosim_master.exchange.exchange_arrays import links_of, machine_at, parts_of, report_of
from cosim_master.exchange.part_values import converted, is_passed_on, read, set_held
from cosim_master.exchange.stop_codes import DONE, NOT_FINITE, NOT_SETTLED, READ_FAILED, SET_FAILED

TOLERANCE, MOST_SWEEPS, HOPELESS = 1e-10, 40, 1e100
"""The same as in `initialize_participants`."""
REFERENCE = 4
"""Bytes of a value reference."""


def settle_values(address, at, length):
    """Pass outputs on to the inputs that they feed, until all values at the start agree; returns a stop code.

    At the address `at` are `length` integers. They describe groups of outputs in the order of dependencies:
    the number of outputs, whether they are a closed loop, and the pair (participant, output) of each.
    """
    machine = machine_at(address)
    words = integers_at(at, length)
    place = 0
    while place < length:
        pairs = words[place + 2 : place + 2 + 2 * words[place]]
        stop = settle_group(machine, pairs) if words[place + 1] == 0 else settle_loop(machine, pairs)
        if stop != DONE:
            return stop
        place += 2 + 2 * words[place]
    return DONE


def settle_group(machine, pairs):
    """Read outputs one after the other, and pass each on."""
    for i in range(pairs.shape[0] // 2):
        stop = read_one(machine, pairs[2 * i], pairs[2 * i + 1])
        if stop == DONE:
            stop = pass_one_on(machine, pairs[2 * i + 1])
        if stop != DONE:
            return stop
    return DONE


def settle_loop(machine, pairs):
    """Substitute the values of a closed loop, until none of them changes by more than rounding."""
    for i in range(pairs.shape[0] // 2):
        stop = read_one(machine, pairs[2 * i], pairs[2 * i + 1])
        if stop != DONE:
            return stop
    for i in range(pairs.shape[0] // 2):
        stop = pass_one_on(machine, pairs[2 * i + 1])
        if stop != DONE:
            return stop
    for _ in range(MOST_SWEEPS):
        is_settled = True
        for i in range(pairs.shape[0] // 2):
            before = machine.outputs[pairs[2 * i + 1]]
            stop = read_one(machine, pairs[2 * i], pairs[2 * i + 1])
            value = machine.outputs[pairs[2 * i + 1]]
            if stop == DONE and not abs(value) < HOPELESS:
                stop = NOT_SETTLED
            if stop == DONE:
                stop = pass_one_on(machine, pairs[2 * i + 1])
            if stop != DONE:
                return stop
            if not abs(value - before) <= TOLERANCE * max(1.0, abs(value)):
                is_settled = False
        if is_settled:
            return DONE
    return NOT_SETTLED


def read_one(machine, number, slot):
    """Read one output of a participant."""
    part = parts_of(machine)[number]
    report = report_of(machine)
    report.part = number
    reference = part.output_references + REFERENCE * (slot - part.first_output)
    status = call_with_array(part.get_at, part.access, reference, 1, report.outputs_at + 8 * slot, 1)
    restore_rounding(part.rounding_at)
    return READ_FAILED if is_bad(status) else DONE


def pass_one_on(machine, slot):
    """Write an output to the inputs that it feeds, unless they have the value already."""
    report = report_of(machine)
    for target in parts_of(machine):
        for fed in range(target.first_input, target.first_input + target.inputs):
            link = links_of(machine)[fed]
            if link.source != slot:
                continue
            value = converted(machine, fed, machine.outputs[slot])
            if not is_passed_on(link, value):
                return NOT_FINITE
            if machine.inputs[fed] == value:
                continue
            machine.inputs[fed] = value
            reference = target.input_references + REFERENCE * (fed - target.first_input)
            at = report.inputs_at + 8 * fed
            status = call_with_array(target.set_at, target.access, reference, 1, at, 1)
            restore_rounding(target.rounding_at)
            if is_bad(status):
                return SET_FAILED
    return DONE


def exchange_first(address, at, count):
    """Read all participants, then write all their inputs, before the first step; returns a stop code.

    Their numbers are at the address `at`, in the order of stepping.
    """
    machine = machine_at(address)
    order = integers_at(at, count)
    for i in range(count):
        report_of(machine).part = order[i]
        stop = read(machine, parts_of(machine)[order[i]])
        if stop != DONE:
            return stop
    for i in range(count):
        report_of(machine).part = order[i]
        stop = set_held(machine, parts_of(machine)[order[i]])
        if stop != DONE:
            return stop
    return DONE
