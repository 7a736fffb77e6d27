"""Communication steps as kernel functions: only C calls and copies, no Python between them.

============ ==============================================================================
``program``  pairs *(call, participant)* of one exchange, see `exchange_layout`
``parts``    for each participant `WIDTH` integers, see `PART`
``places``   for each input `LINK` integers: the output that feeds it, the value of the interface (or -1), the
             first of its pairs and how many there are, 1 where it takes 0 and 1 alone
``scales``   for each input factor and offset of the conversion
``pairs``    of mapped connections: values, and what they become
``ports``    for each value of the interface the output, then, participant by participant, its values
``columns``  what is recorded: an output, or an input as -1 - index
``inputs``   `REGIONS` of as many numbers as there are inputs: as they are now, as they were when the
             exchange began, their mean over it, and their slopes
``outputs``  as they were read last; then as they were when the state was saved
``flags``    `FLAGS` for each participant: what FMI 3.0 asks for after a step (event mode, end, early
             return: a byte each, so any number but 0), the time that was reached, and the time beyond
             which a step is left to Python
``rows``     time, whether it is a communication point, and the recorded values: one row for each
             exchange that is kept
``report``   where the run stopped and how it goes on, see below
``grid``     of the communication points, see `CommunicationPoints.grid`
``counts``, ``numbers``, ``table``, ``bonds``: in which the algorithm decides, see `exchange_layout`
============ ==============================================================================
"""

from __future__ import annotations

from cosim.kit import call_with_array, call_with_interval, foreign, tick_time
from cosim_fmu.master.algorithms.exchange_layout import (
    ADVANCE,
    ADVANCE_ALL,
    ALONG,
    DERIVE,
    END,
    FAILED,
    FINISHED,
    KEPT,
    KIND,
    LENGTH,
    MIDDLE,
    NOW,
    ONCE,
    PASS,
    PHASE,
    PUT_END,
    REACHED,
    READ,
    READ_AT_END,
    RESTORE,
    SAVE,
    SET,
    SET_ALONG,
    SIZE,
    SLOPE,
    TAKE_KNOWN,
    TIME,
)
from cosim_fmu.master.algorithms.extrapolate import take_known
from cosim_fmu.master.algorithms.next_request import next_request
from cosim_fmu.master.wiring.convert_value import convert_value

integers_at = foreign.integers_at

# Stop codes
DONE, SET_FAILED, STEP_FAILED, READ_FAILED, NOT_FINITE, STEP_LEFT, SLOPES_FAILED = range(7)
SAVE_FAILED, RESTORE_FAILED, NOT_SETTLED, DERIVES, PAUSED, SAVES, RESTORES, BESIDE = range(7, 15)
"""Beyond what failed: directional derivatives are wanted (DERIVES), the budget of exchanges or rows is used
up (PAUSED), a state is saved or restored in a step in which Python had to do something (SAVES, RESTORES), all
step in several threads (BESIDE)."""

# `parts`
INSTANCE, SET_AT, STEP_AT, GET_AT, FIRST_INPUT, INPUTS, INPUT_REFERENCES = range(7)
FIRST_OUTPUT, OUTPUTS, OUTPUT_REFERENCES, SAME_SIZE, EVERY, REFRESHES = range(7, 13)
SLOPES_AT, SLOPE_ORDERS, SAVE_AT, RESTORE_AT, FREE_AT, SAVED_AT, FIRST_OWN, OWN, ACCESS = range(13, 22)
WIDTH = 22
FLAGS = 5

# `places`
SOURCE, LINE, FIRST_PAIR, PAIRS, IS_BOOLEAN, LINK = range(6)

# `inputs`
HELD, BEGAN, MEANS, SLOPES = range(4)
REGIONS = 4

# `report`
STEP, PLACE, STATUS, INPUTS_AT, OUTPUTS_AT, FLAGS_AT = range(6)
UNDER_WAY, ROWS_USED, LEFT, REQUEST, WATCHED, ALWAYS_WATCHED, NOTICED = range(6, 13)
"""`UNDER_WAY`: BETWEEN steps, DECIDING in one, or EXCHANGING from PLACE on. LEFT: so many exchanges before
PAUSED. REQUEST: what is left to be done of a request, else -1. WATCHED: Python did something
since the last state was saved. NOTICED: a participant that was called in Python brought something about."""
REPORT = 13
BETWEEN, DECIDING, EXCHANGING = range(3)
SIGNATURE = "IIIFFIIFFFFIIFFIIffiii>i"
ADVANCE_SIGNATURE = "IiFIff>i"


def run_steps(
    program,
    parts,
    places,
    scales,
    pairs,
    ports,
    columns,
    inputs,
    outputs,
    flags,
    rows,
    report,
    counts,
    numbers,
    table,
    bonds,
    grid,
    step,
    until,
    count,
    first,
    last,
):
    """Take the communication steps `first` … `last` - 1 of `count`, at the times of `CommunicationPoints`.

    `report` begins with the step under way. On entry the addresses in it are set.
    """
    width = columns.shape[0] + 2
    room = rows.shape[0] // width
    looks = counts[KIND] != ONCE or counts[ALONG] != 0
    for i in range(first, last):
        report[STEP] = i  # who ends the process inside a call looks here
        time = point_time(grid, i)
        following = point_time(grid, i + 1) if i + 1 < count else until
        if report[UNDER_WAY] == BETWEEN:
            counts[PHASE] = 0
            report[UNDER_WAY] = DECIDING
        while True:
            if report[UNDER_WAY] == DECIDING:
                if report[REQUEST] < 0:
                    if looks:
                        for k in range(counts[SIZE]):
                            table[NOW * counts[SIZE] + k] = outputs[ports[k]]
                    report[REQUEST] = next_request(counts, numbers, table, bonds, time, following - time)
                    if counts[KEPT] != 0 and report[REQUEST] > FAILED:
                        keep_row(rows, report, columns, inputs, outputs, numbers[REACHED], 0.0)
                request = report[REQUEST]
                if request == FINISHED:
                    report[REQUEST] = -1
                    break
                if request == FAILED:
                    return NOT_SETTLED
                if request == DERIVE:
                    report[REQUEST] = -1
                    return DERIVES
                if request & PASS != 0 and (report[ROWS_USED] + 2 > room or report[LEFT] <= 0):
                    return PAUSED
                stop = go_back_or_save(parts, outputs, report, request)
                if stop != DONE:
                    return stop
                report[REQUEST] = -1
                if request & PASS == 0:
                    continue
                report[LEFT] -= 1
                report[PLACE] = 0
                report[UNDER_WAY] = EXCHANGING
            for j in range(report[PLACE], program.shape[0] // 2):
                stop = DONE
                call = program[2 * j]
                part = WIDTH * program[2 * j + 1]
                every = parts[part + EVERY]
                # Slow participants take part in one step of many, and then go further.
                point = i + 1 if call == READ else i
                if every > 1 and point % every != 0 and point != count:
                    continue
                if call == SET:
                    stop = set_held(parts, part, places, scales, pairs, inputs, outputs, report)
                elif call == ADVANCE:
                    ahead = min(i + every, count)
                    length = (point_time(grid, ahead) if ahead < count else until) - time
                    begin = time
                    if looks:
                        begin = numbers[TIME]
                        length = numbers[LENGTH]
                    # Who cannot vary the step gets the very same number each time, not one an ulp away.
                    if parts[part + SAME_SIZE] != 0 and abs(length - every * step) <= 1e-9 * length:
                        length = every * step
                    stop = advance(parts, part, flags, report, begin, length)
                elif call == READ:
                    stop = read(parts, part, report)
                elif call == SET_ALONG:
                    stop = set_along(
                        parts, part, places, scales, pairs, inputs, outputs, report, counts, numbers, table
                    )
                elif call == READ_AT_END:
                    stop = set_end(parts, part, places, scales, pairs, inputs, outputs, report, counts, table)
                    if stop == DONE:
                        stop = read(parts, part, report)
                elif call == TAKE_KNOWN:
                    for o in range(parts[part + FIRST_OWN], parts[part + FIRST_OWN] + parts[part + OWN]):
                        k = ports[o]
                        take_known(counts, numbers, table, k, outputs[ports[k]])
                elif call == ADVANCE_ALL:
                    stop = BESIDE
                elif call == PUT_END:
                    for k in range(counts[SIZE]):
                        outputs[ports[k]] = table[END * counts[SIZE] + k]
                if stop != DONE:
                    report[PLACE] = j
                    return stop
            report[UNDER_WAY] = DECIDING
        keep_row(rows, report, columns, inputs, outputs, following, 1.0)
        report[UNDER_WAY] = BETWEEN
        if report[NOTICED] != 0:
            return DONE
    return DONE


def point_time(grid, index):
    """The communication point with this index."""
    return tick_time(index, grid[0], grid[1], grid[2], grid[3], grid[4])


def keep_row(rows, report, columns, inputs, outputs, time, is_point):
    """The values that are recorded, after an exchange that counts."""
    row = report[ROWS_USED] * (columns.shape[0] + 2)
    rows[row] = time
    rows[row + 1] = is_point
    for j in range(columns.shape[0]):
        rows[row + 2 + j] = outputs[columns[j]] if columns[j] >= 0 else inputs[-1 - columns[j]]
    report[ROWS_USED] += 1


def go_back_or_save(parts, outputs, report, request):
    """Have all participants save or restore their states, and keep or put back what was read of them."""
    size = outputs.shape[0] // 2
    count = parts.shape[0] // WIDTH
    if request & RESTORE != 0:
        if report[WATCHED] != 0:
            return RESTORES
        for p in range(count):
            part = WIDTH * p
            status = call_with_array(
                parts[part + RESTORE_AT], parts[part + INSTANCE], saved_state(parts, part), 0, 0, 0
            )
            if status > 1:
                report[PLACE] = p
                report[STATUS] = status
                return RESTORE_FAILED
        for k in range(size):
            outputs[k] = outputs[size + k]
        report[WATCHED] = report[ALWAYS_WATCHED]
    if request & SAVE != 0:
        if report[WATCHED] != 0:
            return SAVES
        for p in range(count):
            part = WIDTH * p
            at = parts[part + SAVED_AT]
            status = 0
            if parts[part + FREE_AT] != 0 and integers_at(at, 1)[0] != 0:
                status = call_with_array(parts[part + FREE_AT], parts[part + INSTANCE], at, 0, 0, 0)
                integers_at(at, 1)[0] = 0
            if status <= 1:
                status = call_with_array(parts[part + SAVE_AT], parts[part + INSTANCE], at, 0, 0, 0)
            if status > 1:
                report[PLACE] = p
                report[STATUS] = status
                return SAVE_FAILED
        for k in range(size):
            outputs[size + k] = outputs[k]
        report[WATCHED] = report[ALWAYS_WATCHED]
    return DONE


def saved_state(parts, part):
    """What the function that restores a participant takes."""
    return integers_at(parts[part + SAVED_AT], 1)[0]


def set_held(parts, part, places, scales, pairs, inputs, outputs, report):
    """Write the inputs of a participant from what was read."""
    begin = parts[part + FIRST_INPUT]
    size = parts[part + INPUTS]
    for slot in range(begin, begin + size):
        value = converted(places, scales, pairs, slot, outputs[places[LINK * slot + SOURCE]])
        if not is_passed_on(places, slot, value):
            return NOT_FINITE
        inputs[slot] = value
    if size == 0:
        return DONE
    return write_inputs(parts, part, report)


def converted(places, scales, pairs, slot, value):
    """A value as the input takes it."""
    at = LINK * slot
    first = 2 * places[at + FIRST_PAIR]
    mapped = pairs[first : first + 2 * places[at + PAIRS]]
    return convert_value(value, mapped, scales[2 * slot], scales[2 * slot + 1])


def is_passed_on(places, slot, value):
    """Whether an input takes the value: a finite one, and where it is mapped to a boolean 0 or 1."""
    if value - value != 0.0:
        return False
    return places[LINK * slot + IS_BOOLEAN] == 0 or value == 0.0 or value == 1.0


def write_inputs(parts, part, report):
    """Hand the inputs of a participant over as they are now."""
    size = parts[part + INPUTS]
    at = report[INPUTS_AT] + 8 * parts[part + FIRST_INPUT]
    references = parts[part + INPUT_REFERENCES]
    report[STATUS] = call_with_array(parts[part + SET_AT], parts[part + ACCESS], references, size, at, size)
    return SET_FAILED if report[STATUS] > 1 else DONE  # 0 is OK and 1 a warning, in every version of FMI


def set_along(parts, part, places, scales, pairs, inputs, outputs, report, counts, numbers, table):
    """Write the inputs of a participant for an exchange over which the interface runs along lines.

    Who follows slopes gets the value where it begins, the others hold the middle.
    """
    begin = parts[part + FIRST_INPUT]
    size = parts[part + INPUTS]
    slots = places.shape[0] // LINK
    n = counts[SIZE]
    length = numbers[LENGTH]
    follows = parts[part + SLOPES_AT] != 0
    for slot in range(begin, begin + size):
        k = places[LINK * slot + LINE]
        value = outputs[places[LINK * slot + SOURCE]]
        slope = 0.0
        if k >= 0:
            value = table[MIDDLE * n + k]
            if follows:
                slope = scales[2 * slot] * table[SLOPE * n + k]
                value = value - 0.5 * length * table[SLOPE * n + k]
        value = converted(places, scales, pairs, slot, value)
        if not is_passed_on(places, slot, value):
            return NOT_FINITE
        inputs[slot] = value
        inputs[BEGAN * slots + slot] = value
        inputs[MEANS * slots + slot] = value + 0.5 * length * slope
        inputs[SLOPES * slots + slot] = slope
    if size == 0:
        return DONE
    stop = write_inputs(parts, part, report)
    if stop == DONE and follows:
        report[STATUS] = call_with_array(
            parts[part + SLOPES_AT],
            parts[part + INSTANCE],
            parts[part + INPUT_REFERENCES],
            size,
            parts[part + SLOPE_ORDERS],
            report[INPUTS_AT] + 8 * (SLOPES * slots + begin),
        )
        if report[STATUS] > 1:
            return SLOPES_FAILED
    return stop


def set_end(parts, part, places, scales, pairs, inputs, outputs, report, counts, table):
    """The inputs of a participant are those at the end of an exchange; written where outputs need it."""
    begin = parts[part + FIRST_INPUT]
    size = parts[part + INPUTS]
    for slot in range(begin, begin + size):
        k = places[LINK * slot + LINE]
        value = outputs[places[LINK * slot + SOURCE]] if k < 0 else table[END * counts[SIZE] + k]
        value = converted(places, scales, pairs, slot, value)
        if not is_passed_on(places, slot, value):
            return NOT_FINITE
        inputs[slot] = value
    if size == 0 or parts[part + REFRESHES] == 0:
        return DONE
    return write_inputs(parts, part, report)


def advance(parts, part, flags, report, time, length):
    """Step a participant."""
    flag = FLAGS * (part // WIDTH)
    if time + length > flags[flag + 4]:
        return STEP_LEFT
    at = report[FLAGS_AT] + 8 * flag
    report[STATUS] = call_with_interval(
        parts[part + STEP_AT], parts[part + INSTANCE], time, length, 1, at, at + 8, at + 16, at + 24
    )
    if report[STATUS] > 1 or flags[flag] != 0.0 or flags[flag + 1] != 0.0 or flags[flag + 2] != 0.0:
        return STEP_FAILED
    return DONE


def read(parts, part, report):
    """Read what is wanted of a participant."""
    size = parts[part + OUTPUTS]
    if size == 0:
        return DONE
    report[STATUS] = call_with_array(
        parts[part + GET_AT],
        parts[part + ACCESS],
        parts[part + OUTPUT_REFERENCES],
        size,
        report[OUTPUTS_AT] + 8 * parts[part + FIRST_OUTPUT],
        size,
    )
    return READ_FAILED if report[STATUS] > 1 else DONE
