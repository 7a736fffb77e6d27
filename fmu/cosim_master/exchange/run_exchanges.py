"""The interpreter of exchanges: communication steps as kernel functions, over arrays (`exchange_arrays`).

A value is a number: integers and booleans are whole numbers, texts are numbers into a table. An exchange is a
list of operations; how often it is made, an algorithm decides on its own arrays (`next_request`). What
participants do is called by address: functions of C, kernel functions, or Python at its place. What the
interpreter leaves to Python it tells by a stop code, and goes on where it was.
"""

from __future__ import annotations

from cosim.kit import call_with_interval, integers_at, tick_time
from cosim_fmi.binding.statuses import is_bad
from cosim_master.algorithms.exchange_layout import (
    ADVANCE,
    ADVANCE_ALL,
    ALONG,
    BEGIN,
    BEGIN_STEP,
    COLLECT_STEP,
    DERIVE,
    END,
    FAILED,
    FINISH_STEP,
    FINISHED,
    ITERATE,
    KIND,
    LENGTH,
    MIDDLE,
    NOTE_COURSE,
    NOW,
    ONCE,
    PASS,
    PHASE,
    PUT_END,
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
from cosim_master.algorithms.extrapolate import follow_value
from cosim_master.algorithms.next_request import next_request
from cosim_master.coupling.link import EXACT, ONLY_BOOLEANS, ONLY_EXACT, convert_value
from cosim_master.exchange.call_part import (
    lead_part,
    read_part,
    restore_part,
    save_part,
    step_part,
    write_part,
)
from cosim_master.exchange.exchange_arrays import (
    ANSWER,
    BEGAN,
    COURSES,
    ENDS,
    HELD,
    MEAN_SLOPES,
    MEANS,
    SLOPES,
    algorithm_of,
    answers_of,
    clock_of,
    links_of,
    machine_at,
    parts_of,
    progress_of,
    report_of,
    step_times_of,
)

# Stop codes
DONE, SET_FAILED, STEP_FAILED, READ_FAILED, NOT_FINITE, STEP_LEFT, SLOPES_FAILED = range(7)
SAVE_FAILED, RESTORE_FAILED, NOT_SETTLED, DERIVES, PAUSED, SAVES, RESTORES, TOGETHER, CUTS = range(7, 16)
"""Beyond what failed: directional derivatives are wanted (DERIVES), the budget of exchanges or rows is used
up (PAUSED), a state is saved or restored in a step in which Python had to do something (SAVES, RESTORES), all
step in several threads (TOGETHER), the next part of a communication step is wanted (CUTS)."""

# `Progress.under_way`
BETWEEN, DECIDING, EXCHANGING, CUT = range(4)


def run_steps(address, first, last):
    """Take the communication steps `first` … `last` - 1, at the times of `CommunicationPoints`.

    Returns a stop code; `Report.step` is the step under way.
    """
    machine = machine_at(address)
    report = report_of(machine)
    clock = clock_of(machine)
    main = algorithm_of(machine, 0)
    progress = progress_of(main)
    for i in range(first, last):
        report.step = i  # who ends the process inside a call looks here
        if progress.under_way == BETWEEN:
            clock.begin = point_time(machine, i)
            clock.end = point_time(machine, i + 1)
            if report.ticks != 0:
                progress.under_way = CUT
                return CUTS
            main.counts[PHASE] = BEGIN
            progress.under_way = DECIDING
        stop = run_algorithms(machine)
        if stop != DONE:
            return stop
        if clock.end < point_time(machine, i + 1):
            progress.under_way = CUT
            return CUTS
        store_row(machine, clock.end, 1.0)
        clock.sampled = clock.end
        progress.under_way = BETWEEN
        if report.noticed != 0:
            return DONE
    return DONE


def run_operation(address, call, number):
    """Do one operation of an exchange for a participant; returns a stop code."""
    machine = machine_at(address)
    return do_operation(machine, algorithm_of(machine, 0), call, number)


def end_step(address):
    """End a communication step at the end of the clock. Returns DONE."""
    machine = machine_at(address)
    store_row(machine, clock_of(machine).end, 1.0)
    clock_of(machine).sampled = clock_of(machine).end
    return DONE


def point_time(machine, index):
    """The communication point with this index, s."""
    if index >= machine.grid[5]:
        return clock_of(machine).until
    return tick_time(
        index, machine.grid[0], machine.grid[1], machine.grid[2], machine.grid[3], machine.grid[4]
    )


def time_reached(address):
    """The time that the run has reached, s."""
    machine = machine_at(address)
    if progress_of(algorithm_of(machine, 0)).under_way == CUT:
        return clock_of(machine).begin
    return point_time(machine, report_of(machine).step)


def run_algorithms(machine):
    """Exchange until the algorithm of the master has finished."""
    report = report_of(machine)
    while True:
        algorithm = algorithm_of(machine, report.algorithm)
        progress = progress_of(algorithm)
        if progress.under_way == DECIDING:
            stop = decide(machine, algorithm)
            if stop != DONE:
                return stop
            if progress.under_way == BETWEEN:
                if report.algorithm == 0:
                    return DONE
                report.algorithm = 0
                progress_of(algorithm_of(machine, 0)).place += 1
                continue
        if progress.under_way == EXCHANGING:
            while (
                progress.place < algorithm.program.shape[0] // 2
                and algorithm.program[2 * progress.place] != ITERATE
            ):
                place = 2 * progress.place
                stop = do_operation(
                    machine, algorithm, algorithm.program[place], algorithm.program[place + 1]
                )
                if stop != DONE:
                    return stop
                progress.place += 1
            if progress.place < algorithm.program.shape[0] // 2:
                report.algorithm = algorithm.program[2 * progress.place + 1]
                inner = algorithm_of(machine, report.algorithm)
                inner.counts[PHASE] = BEGIN
                progress_of(inner).under_way = DECIDING
            else:
                progress.under_way = DECIDING


def decide(machine, algorithm):
    """Ask an algorithm what comes next, and save or restore states; then it is EXCHANGING or BETWEEN."""
    report = report_of(machine)
    progress = progress_of(algorithm)
    n = algorithm.counts[SIZE]
    if progress.request < 0:
        if algorithm.counts[KIND] != ONCE or algorithm.counts[ALONG] != 0:
            for k in range(n):
                algorithm.table[NOW * n + k] = machine.outputs[algorithm.ports[k]]
        size = clock_of(machine).end - clock_of(machine).begin
        progress.request = next_request(
            algorithm.counts,
            algorithm.numbers,
            algorithm.table,
            algorithm.bonds,
            clock_of(machine).begin,
            size,
        )
    request = progress.request
    if request == FINISHED:
        progress.request = -1
        progress.under_way = BETWEEN
        return DONE
    if request == FAILED:
        return NOT_SETTLED
    if request == DERIVE:
        progress.request = -1
        return DERIVES
    is_full = (report.rows + 2) * (machine.columns.shape[0] + 2) > machine.rows.shape[0]
    if request & PASS != 0 and (is_full or report.left <= 0):
        return PAUSED
    if request & RESTORE != 0:
        stop = restore_states(machine, algorithm)
        if stop != DONE:
            return stop
    if request & SAVE != 0:
        stop = save_states(machine, algorithm)
        if stop != DONE:
            return stop
    progress.request = -1
    if request & PASS != 0:
        report.left -= 1
        progress.place = 0
        progress.under_way = EXCHANGING
    return DONE


def store_row(machine, time, is_point):
    """Store the recorded values, and those that show the coupling error, at the end of an exchange."""
    width = machine.columns.shape[0] + 2
    row = report_of(machine).rows * width
    machine.rows[row] = time
    machine.rows[row + 1] = is_point
    for j in range(width - 2):
        place = machine.columns[j]
        machine.rows[row + 2 + j] = machine.outputs[place] if place >= 0 else machine.inputs[-1 - place]
    report_of(machine).rows += 1


def save_states(machine, algorithm):
    """Save the states of an algorithm's participants, and the values that were read of them."""
    progress = progress_of(algorithm)
    if progress.watched != 0:
        return SAVES
    for i in range(algorithm.members.shape[0]):
        part = parts_of(machine)[algorithm.members[i]]
        status = save_part(part)
        if is_bad(status):
            report_of(machine).part = algorithm.members[i]
            report_of(machine).status = status
            return SAVE_FAILED
        for k in range(part.first_output, part.first_output + part.outputs):
            algorithm.saved[k] = machine.outputs[k]
    progress.watched = progress.always_watched
    return DONE


def restore_states(machine, algorithm):
    """Restore the states of an algorithm's participants, and the values that were read of them."""
    progress = progress_of(algorithm)
    if progress.watched != 0:
        return RESTORES
    for i in range(algorithm.members.shape[0]):
        part = parts_of(machine)[algorithm.members[i]]
        status = restore_part(part)
        if is_bad(status):
            report_of(machine).part = algorithm.members[i]
            report_of(machine).status = status
            return RESTORE_FAILED
        for k in range(part.first_output, part.first_output + part.outputs):
            machine.outputs[k] = algorithm.saved[k]
    progress.watched = progress.always_watched
    return DONE


def do_operation(machine, algorithm, call, number):
    """Do one operation of an exchange; returns a stop code."""
    if call == ADVANCE_ALL:
        return TOGETHER
    if call == PUT_END:
        for k in range(algorithm.counts[SIZE]):
            machine.outputs[algorithm.ports[k]] = algorithm.table[END * algorithm.counts[SIZE] + k]
        return DONE
    part = parts_of(machine)[number]
    if call == TAKE_KNOWN:
        for o in range(part.first_value, part.first_value + part.values):
            k = machine.own_values[o]
            follow_value(
                algorithm.counts, algorithm.numbers, algorithm.table, k, machine.outputs[algorithm.ports[k]]
            )
        return DONE
    i = report_of(machine).step
    # Slow participants take part in one step of many, and then go further.
    point = i + 1 if call in (READ, READ_AT_END) else i
    if part.step_multiple > 1 and point % part.step_multiple != 0 and point != machine.grid[5]:
        return DONE
    if call == SET:
        return set_held(machine, part)
    if call == SET_ALONG:
        return set_along(machine, algorithm, part)
    if call == ADVANCE:
        return advance(machine, algorithm, number)
    if call == NOTE_COURSE:
        start_step(machine, algorithm, number)
        return DONE
    if call in (BEGIN_STEP, COLLECT_STEP):
        start_step(machine, algorithm, number)
        send_step(machine, algorithm, number, 1 if call == BEGIN_STEP else 0)
        return DONE
    if call == FINISH_STEP:
        return finish_step(machine, algorithm, number)
    if call == READ:
        return read(machine, part)
    if call == READ_AT_END:
        stop = set_end(machine, algorithm, part)
        return read(machine, part) if stop == DONE else stop
    return DONE


def set_held(machine, part):
    """Write the inputs of a participant from what was read."""
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
    """A value as the input takes it."""
    link = links_of(machine)[slot]
    mapped = machine.pairs[2 * link.first_pair : 2 * (link.first_pair + link.pairs)]
    return convert_value(value, mapped, machine.scales[2 * slot], machine.scales[2 * slot + 1])


def is_passed_on(link, value):
    """Whether an input takes the value: a finite one, and what else `Link.fault` says."""
    if value - value != 0.0:
        return False
    if link.check == ONLY_EXACT:
        return abs(value) < EXACT
    return link.check != ONLY_BOOLEANS or value == 0.0 or value == 1.0


def write_inputs(machine, part):
    """Hand the inputs of a participant over as they are now."""
    status = write_part(part, report_of(machine).inputs_at + 8 * part.first_input)
    report_of(machine).status = status
    return SET_FAILED if is_bad(status) else DONE


def set_along(machine, algorithm, part):
    """Write the inputs of a participant for an exchange over which the interface runs along lines.

    Who follows slopes gets the value where it begins, the others hold the middle.
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
    """The inputs of a participant are those at the end of an exchange; written where outputs need it."""
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


def advance(machine, algorithm, number):
    """Step a participant."""
    start_step(machine, algorithm, number)
    return finish_step(machine, algorithm, number)


def send_step(machine, algorithm, number, is_last):
    """Begin a step elsewhere, unless it is left to Python; the last one of a message sends it."""
    part = parts_of(machine)[number]
    begin = algorithm.numbers[TIME]
    length = step_length(machine, algorithm, part)
    if part.begin_at != 0 and not begin + length > answers_of(machine)[number].latest:
        call_with_interval(part.begin_at, part.instance, begin, length, is_last, 0, 0, 0, 0)


def finish_step(machine, algorithm, number):
    """The step of a participant whose inputs are noted."""
    stop = call_step(
        machine, number, algorithm.numbers[TIME], step_length(machine, algorithm, parts_of(machine)[number])
    )
    report_of(machine).status = int(answers_of(machine)[number].status)
    return stop


def start_step(machine, algorithm, number):
    """A participant is about to step: what its inputs do meanwhile is known now."""
    begin = algorithm.numbers[TIME]
    record_sample(machine, begin)
    note_course(machine, number, begin, step_length(machine, algorithm, parts_of(machine)[number]))


def start_steps(address, algorithm_number, at, count):
    """Several participants, whose numbers lie at an address, are about to step; returns DONE."""
    machine = machine_at(address)
    algorithm = algorithm_of(machine, algorithm_number)
    numbers = integers_at(at, count)
    for i in range(count):
        if not rests(machine, numbers[i]):
            start_step(machine, algorithm, numbers[i])
    return DONE


def take_steps(address, algorithm_number, at, count):
    """Step several participants one after the other; changes only them and their answers."""
    machine = machine_at(address)
    algorithm = algorithm_of(machine, algorithm_number)
    numbers = integers_at(at, count)
    for i in range(count):
        number = numbers[i]
        answer = answers_of(machine)[number]
        answer.stop = float(DONE)
        if not rests(machine, number):
            length = step_length(machine, algorithm, parts_of(machine)[number])
            answer.stop = float(call_step(machine, number, algorithm.numbers[TIME], length))
    return DONE


def rests(machine, number):
    """Whether a slow participant does not begin a step of its own in this communication step."""
    return report_of(machine).step % parts_of(machine)[number].step_multiple != 0


def step_length(machine, algorithm, part):
    """The length of a participant's step, s."""
    multiple = part.step_multiple
    length = algorithm.numbers[LENGTH]
    if multiple > 1:
        length = (
            point_time(machine, min(report_of(machine).step + multiple, machine.grid[5]))
            - algorithm.numbers[TIME]
        )
    # Who cannot vary the step gets the very same number each time, not one an ulp away.
    if part.same_size != 0 and abs(length - multiple * clock_of(machine).step) <= 1e-9 * length:
        length = multiple * clock_of(machine).step
    return length


def call_step(machine, number, begin, length):
    """Step a participant, unless the step is left to Python."""
    part = parts_of(machine)[number]
    answer = answers_of(machine)[number]
    answer.status = 0.0
    if begin + length > answer.latest:
        return STEP_LEFT
    at = report_of(machine).answers_at + 8 * ANSWER * number
    status = step_part(part, begin, length, at)
    answer.status = float(status)
    if is_bad(status) or answer.event != 0.0 or answer.end != 0.0 or answer.early != 0.0:
        return STEP_FAILED
    return DONE


def record_sample(machine, time):
    """Add a sample before a participant steps from `time` (s), if all have ended an exchange there."""
    if not time > clock_of(machine).sampled:
        return
    small = 1e-9 * (time - clock_of(machine).sampled)
    for times in step_times_of(machine):
        if times.reached < time - small:
            return
    store_row(machine, time, 0.0)
    clock_of(machine).sampled = time


def note_course(machine, number, begin, length):
    """Store the course of a participant's inputs over a step; a repeated step replaces it."""
    part = parts_of(machine)[number]
    times = step_times_of(machine)[number]
    slots = len(links_of(machine))
    goes_on = (
        begin > times.since
        and begin >= clock_of(machine).sampled
        and times.since >= clock_of(machine).sampled
    )
    if not goes_on:
        times.since = begin
    times.began = begin
    times.reached = begin + length
    share = length / (times.reached - times.since) if goes_on else 1.0
    for slot in range(part.first_input, part.first_input + part.inputs):
        slope = machine.inputs[SLOPES * slots + slot]
        machine.inputs[BEGAN * slots + slot] = machine.inputs[HELD * slots + slot]
        machine.inputs[COURSES * slots + slot] = slope
        machine.inputs[ENDS * slots + slot] = machine.inputs[HELD * slots + slot] + length * slope
        mean = machine.inputs[HELD * slots + slot] + 0.5 * length * slope
        if share != 1.0:
            mean = (1.0 - share) * machine.inputs[MEANS * slots + slot] + share * mean
            slope = 0.0
        machine.inputs[MEANS * slots + slot] = mean
        machine.inputs[MEAN_SLOPES * slots + slot] = slope


def read(machine, part):
    """Read what is wanted of a participant."""
    status = read_part(part, report_of(machine).outputs_at + 8 * part.first_output)
    report_of(machine).status = status
    return READ_FAILED if is_bad(status) else DONE


ENTRIES = {run_steps: 3, run_operation: 3, end_step: 1, start_steps: 4, take_steps: 4}
"""The functions that Python calls, with the number of their whole numbers."""
