"""A run that its caller leads from one time to the next, as kernel functions over the arrays of the machine.

A library of C without Python calls these and nothing else (`exchange_arrays` says on what): first values
(`settle_values`, `exchange_first`), then `lead` for each step of the host. In Python `SteppedRun` does the
same with `CompiledLoop`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cosim.kit import (
    Integers,
    Reals,
    call_with_array,
    common_resolution,
    group_reader,
    integers_at,
    rational_time,
)
from cosim_fmi.binding.rounding import restore_rounding, round_as_before
from cosim_fmi.binding.statuses import is_bad
from cosim_master.algorithms.exchange_layout import ADAPTIVE, BEGIN, DISCARDED, GOES_BACK, KIND, PHASE
from cosim_master.exchange.exchange_arrays import (
    algorithm_of,
    clock_of,
    links_of,
    machine_at,
    parts_of,
    progress_of,
    report_of,
)
from cosim_master.exchange.run_exchanges import (
    BETWEEN,
    CUT,
    DECIDING,
    DERIVES,
    DONE,
    NOT_FINITE,
    NOT_SETTLED,
    PAUSED,
    READ_FAILED,
    SET_FAILED,
    STEP_FAILED,
    converted,
    is_passed_on,
    point_time,
    read,
    run_algorithms,
    run_steps,
    set_held,
)
from cosim_master.recording.collect_samples import (
    BEGAN,
    LENGTH,
    REACHED,
    SAMPLES,
    STEPS_OF_ONE,
    STRIDE,
    add_exchange,
    collected_at,
)

TOLERANCE, MOST_SWEEPS, HOPELESS = 1e-10, 40, 1e100
"""As in `initialize_participants`."""
REFERENCE = 4
"""Bytes of a value reference."""
DISCARD = 2
"""A participant's answer: the step is too long for it."""
NOT_COUNTED = 1
"""Start and step have no resolution of 64 bits in common."""
MANY = 1 << 40
"""Exchanges before `PAUSED`: only rows are too many before that."""


def set_start(address, time):
    """Count communication points from another start (s); returns a stop code."""
    machine = machine_at(address)
    clock = clock_of(machine)
    whole, rest, of_start = rational_time(time)
    length, more, of_step = rational_time(clock.step)
    if of_start == 0 or of_step == 0:
        return NOT_COUNTED
    common = common_resolution(of_start, of_step)
    if common == 0:
        return NOT_COUNTED
    clock.until += time - point_time(machine, 0)
    clock.sampled = time
    machine.grid[0] = whole
    machine.grid[1] = rest * (common // of_start)
    machine.grid[2] = length
    machine.grid[3] = more * (common // of_step)
    machine.grid[4] = common
    return DONE


def settle_values(address, at, length):
    """Pass outputs on to the inputs that they feed, until all values at the start fit; returns a stop code.

    `length` whole numbers lie at the address `at`: for each group of outputs, in the order of their
    dependencies, how many there are, whether they are a closed loop, and *(participant, output)* of each.
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
    """Write an output to the inputs that it feeds, unless they have it."""
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

    Their numbers lie at the address `at`, in their order.
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


class Sampling(NamedTuple):
    """Samples of the coupling; behind it come those so far (`Collected`).

    Attributes
    ----------
    places : ndarray of int
        Where outputs, means of inputs, their slopes and their last values lie in a row; inputs that are held
        have no slopes, and their means are all.
    row : ndarray
        Room for one exchange.
    limits : ndarray of int, shape (1,)
        Numbers that are kept at most.
    """

    places: Integers
    row: Reals
    limits: Integers


_read_sampling = group_reader(Sampling)
SAMPLING_HEAD = 2 * len(Sampling._fields)
WORD = 8
AT_ONCE = 40
"""Samples for which there is room before rows are taken: one for each row at most, and those at the end."""


def sampling_at(samples):
    """The `Sampling` whose head begins at an address."""
    return _read_sampling(integers_at(samples, SAMPLING_HEAD))


def collected_behind(samples):
    """The `Collected` whose head follows that of the `Sampling` at an address."""
    return collected_at(samples + WORD * SAMPLING_HEAD)


def start_samples(address, samples):
    """The first exchange; returns a stop code."""
    machine = machine_at(address)
    sampling = sampling_at(samples)
    s = collected_behind(samples)
    for values in (s.present, s.rates, s.bends, s.teeth, s.sample, s.first):
        for i in range(len(values)):
            values[i] = 0.0
    for i in range(len(s.counts)):
        if i != STEPS_OF_ONE:
            s.counts[i] = 0
    s.counts[STRIDE] = 1
    time = time_reached(address)
    s.clock[REACHED] = time
    s.clock[BEGAN] = time
    s.clock[LENGTH] = 0.0
    s.present[0] = time
    for k in range(len(s.jumps)):
        place = machine.columns[sampling.places[k]]
        s.present[1 + k] = machine.outputs[place]
    for i in range(len(s.present)):
        s.kept[i] = s.present[i]
    return DONE


def collect_rows(machine, samples):
    """Turn the rows of exchanges into samples; whether there is no room for further ones."""
    report = report_of(machine)
    if samples == 0:
        report.rows = 0
        return False
    sampling = sampling_at(samples)
    s = collected_behind(samples)
    n = len(s.jumps)
    m = len(s.sources)
    width = len(machine.columns) + 2
    for i in range(report.rows):
        first = width * i
        sampling.row[0] = machine.rows[first]
        for k in range(n + m):
            sampling.row[1 + k] = machine.rows[first + 2 + sampling.places[k]]
        for k in range(n + m, n + 3 * m):
            if len(sampling.places) == n + m:
                sampling.row[1 + k] = 0.0 if k < n + 2 * m else sampling.row[1 + k - 2 * m]
            else:
                sampling.row[1 + k] = machine.rows[first + 2 + sampling.places[k]]
        add_exchange(s, sampling.row)
    report.rows = 0
    used = s.counts[SAMPLES] // s.counts[STRIDE] + 1
    return (used + AT_ONCE) * len(s.present) > len(s.kept) and len(s.kept) < sampling.limits[0]


def lead(address, samples, target, slack):
    """Advance to a time (s), or to the communication point within `slack` of it.

    `samples` is the address of the head of `Sampling` and `Collected`, or 0. Where they need room,
    `Report.noticed` is set as well.

    A target inside a communication step cuts it there for all participants, and the next call goes on from
    there. `Report.step` is the communication step that is taken next, or has been cut. Ends early where a
    participant has set `Report.noticed`. Returns a stop code.
    """
    machine = machine_at(address)
    report = report_of(machine)
    clock = clock_of(machine)
    main = algorithm_of(machine, 0)
    progress = progress_of(main)
    report.ticks = 0
    while report.noticed == 0:
        index = report.step
        following = point_time(machine, index + 1)
        is_whole = following <= target + slack
        if not is_whole and not time_reached(address) < target - slack:
            return DONE
        if progress.under_way == BETWEEN:
            clock.begin = point_time(machine, index)
        if progress.under_way == BETWEEN or progress.under_way == CUT:
            clock.end = following if is_whole else target
            main.counts[PHASE] = BEGIN
            progress.under_way = DECIDING
        stop = run_part(address, samples, is_whole)
        if stop == PAUSED:
            report.noticed = 1
            return DONE
        if stop != DONE:
            return stop
        if is_whole:
            report.step = index + 1
        else:
            clock.begin = clock.end
            clock.end = following
            progress.under_way = CUT
    return DONE


def run_part(address, samples, is_whole):
    """Finish the communication step under way, or the part of it that ends at the end of the clock.

    PAUSED where samples need room before it is finished.
    """
    machine = machine_at(address)
    report = report_of(machine)
    while True:
        report.rows = 0
        report.left = MANY
        stop = run_steps(address, report.step, report.step + 1) if is_whole else run_algorithms(machine)
        is_full = collect_rows(machine, samples)
        if stop == PAUSED and is_full:
            return stop
        if stop == DONE and is_full:
            report.noticed = 1
        if stop == STEP_FAILED and report.status == DISCARD:
            algorithm = algorithm_of(machine, report.algorithm)
            if algorithm.counts[KIND] != ADAPTIVE or algorithm.counts[GOES_BACK] == 0:
                return stop
            algorithm.counts[DISCARDED] = 1  # a shorter one is tried
            progress_of(algorithm).under_way = DECIDING
        elif stop != PAUSED and stop != DERIVES:  # no participant gives directional derivatives
            return stop


def time_reached(address):
    """The time that the run has reached, s."""
    machine = machine_at(address)
    if progress_of(algorithm_of(machine, 0)).under_way == CUT:
        return clock_of(machine).begin
    return point_time(machine, report_of(machine).step)


def is_point(address, time, slack):
    """Whether a communication point lies at a time (s), or no further from it than `slack`: 1 or 0."""
    machine = machine_at(address)
    first = report_of(machine).step
    steps = (time + slack - point_time(machine, first)) / clock_of(machine).step
    index = min(machine.grid[5], first + int(max(steps, 0.0)) + 1)
    while index > first and point_time(machine, index) > time + slack:
        index -= 1
    return 1 if point_time(machine, index) >= time - slack else 0


LEADING: dict[str, tuple[Callable[..., Any], str]] = {
    "set_start": (set_start, "if>i"),
    "settle_values": (settle_values, "iii>i"),
    "exchange_first": (exchange_first, "iii>i"),
    "lead": (lead, "iiff>i"),
    "time_reached": (time_reached, "i>f"),
    "is_point": (is_point, "iff>i"),
    "round_as_before": (round_as_before, "i>i"),
}
"""The functions that a library calls, with their signatures."""
