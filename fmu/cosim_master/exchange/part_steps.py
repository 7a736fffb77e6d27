"""Steps of participants by the interpreter: their lengths, the courses of inputs, rows at their ends."""

from __future__ import annotations

from cosim.kit import call_with_interval, integers_at, tick_time
from cosim_fmi.binding.statuses import is_bad
from cosim_master.algorithms.exchange_layout import LENGTH, TIME
from cosim_master.exchange.call_part import step_part
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
from cosim_master.exchange.stop_codes import CUT, DONE, STEP_FAILED, STEP_LEFT


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


def advance(machine, algorithm, number):
    """Step a participant."""
    start_step(machine, algorithm, number)
    return finish_step(machine, algorithm, number)


def send_step(machine, algorithm, number, is_last):
    """Begin a step in another process, unless it is left to Python; the last step of a message sends it."""
    part = parts_of(machine)[number]
    begin = algorithm.numbers[TIME]
    length = step_length(machine, algorithm, part)
    if part.begin_at != 0 and not begin + length > answers_of(machine)[number].latest:
        call_with_interval(part.begin_at, part.instance, begin, length, is_last, 0, 0, 0, 0)


def finish_step(machine, algorithm, number):
    """Step a participant; `start_step` has stored the course of its inputs."""
    stop = call_step(
        machine, number, algorithm.numbers[TIME], step_length(machine, algorithm, parts_of(machine)[number])
    )
    report_of(machine).status = int(answers_of(machine)[number].status)
    return stop


def start_step(machine, algorithm, number):
    """Store the course of the inputs of a participant that is about to step."""
    begin = algorithm.numbers[TIME]
    record_sample(machine, begin)
    store_course(machine, number, begin, step_length(machine, algorithm, parts_of(machine)[number]))


def start_steps(address, algorithm_number, at, count):
    """`start_step` for several participants, whose numbers are at an address; returns DONE."""
    machine = machine_at(address)
    algorithm = algorithm_of(machine, algorithm_number)
    numbers = integers_at(at, count)
    for i in range(count):
        if not rests(machine, numbers[i]):
            start_step(machine, algorithm, numbers[i])
    return DONE


def take_steps(address, algorithm_number, at, count):
    """Step several participants one after the other, and change nothing but them and their answers."""
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
    # A participant that cannot vary its step receives the same number to the bit each time.
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


def store_course(machine, number, begin, length):
    """Store the course of a participant's inputs over a step; a repeated step replaces it."""
    part = parts_of(machine)[number]
    times = step_times_of(machine)[number]
    slots = len(links_of(machine))
    continues = (  # a participant with several steps in one sample
        begin > times.since
        and begin >= clock_of(machine).sampled
        and times.since >= clock_of(machine).sampled
    )
    if not continues:
        times.since = begin
    times.began = begin
    times.reached = begin + length
    share = length / (times.reached - times.since) if continues else 1.0
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
