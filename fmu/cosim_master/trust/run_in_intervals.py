"""The course of a run in a limited number of intervals, to which equations are fitted.

All functions are kernel functions.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.kit import Integers, Reals, group_reader, integers_at
from cosim_master.recording.collect_samples import SINGLE

POINTS, FEWEST_POINTS, WORK = 6000, 200, 2e7
"""The largest and least number of intervals; the limit of intervals times the square of the outputs."""
ROUNDING = 1e-12
"""A range below this part of the largest value may be rounding."""
POWERS = 4
"""Powers of the time in the course of an output that depends on no input."""


class Wired(NamedTuple):
    """The assignment of outputs and inputs to participants, and memory for the places of states.

    Attributes
    ----------
    owners : ndarray of int, shape (outputs,)
        The participant of each sampled output.
    sources, targets : ndarray of int, shape (inputs,)
        The output that feeds an input, and the participant of the input.
    direct, surely_direct : ndarray of int, shape (outputs * inputs,)
        1 if an output depends directly on an input; if it surely does.
    driven, holds, runs_straight : ndarray of int, shape (outputs,)
        1 if an output is of a participant with inputs; if it is constant over an exchange; if it runs along
        lines.
    states, part_states, part_inputs : ndarray of int
        Work space: numbers of outputs that are states (-1: none), and the states and inputs of one
        participant.
    answers : ndarray
        Work space: errors and misfits for each weight.
    bars : ndarray, shape (3 * outputs,)
        Bars, then work space.
    spans : ndarray, shape (outputs,)
        Work space: the range of each output.
    """

    owners: Integers
    sources: Integers
    targets: Integers
    direct: Integers
    surely_direct: Integers
    driven: Integers
    holds: Integers
    runs_straight: Integers
    states: Integers
    part_states: Integers
    part_inputs: Integers
    answers: Reals
    bars: Reals
    spans: Reals


_read_wired = group_reader(Wired)
WIRED_HEAD = 2 * len(Wired._fields)


def wired_at(address):
    """The `Wired` whose head begins at an address."""
    return _read_wired(integers_at(address, WIRED_HEAD))


class Intervals(NamedTuple):
    """The course of a run in intervals: times, outputs, and the lines along which inputs ran."""

    times: Reals
    outputs: Reals
    means: Reals
    slopes: Reals
    ends: Reals


def most_intervals(samples, outputs, inputs, limit):
    """The largest number of intervals in the course of a run with at most this number of samples."""
    width = float(outputs + inputs)
    return min(samples - 1, limit, max(FEWEST_POINTS, int(WORK / (width * width))))


def samples_of_one(samples, outputs, inputs, limit):
    """The number of samples in one interval after the `SINGLE` first ones."""
    most = most_intervals(samples, outputs, inputs, limit)
    if samples - 1 <= most:
        return 1
    return (samples - 2 - SINGLE) // (most - SINGLE) + 1


def interval_count(samples, outputs, inputs, limit):
    """The number of intervals in the course of a run, at most `limit`."""
    stride = samples_of_one(samples, outputs, inputs, limit)
    single = min(SINGLE, samples - 1)
    return single + (samples - 2 - single) // stride + 1


def first_sample(interval, stride, samples):
    """The sample at which an interval begins; the last one after the last interval."""
    return min(max(interval, SINGLE + (interval - SINGLE) * stride), samples - 1)


def course_room(intervals, outputs, inputs):
    """The count of numbers of a course."""
    return (intervals + 1) * (1 + outputs + inputs) + 2 * intervals * inputs


def resample_course(room, table, width, wiring, limit):
    """Means and slopes of the inputs over a limited number of intervals.

    Parameters
    ----------
    room : view
        Receives the arrays of `Intervals`, one after the other.
    table : view
        Rows of samples: time, outputs, integrals of inputs, of defects, of energy, ends, moments.
    width : int
        The width of a row.
    wiring : Wired
    limit : int
        The largest number of intervals.

    Returns
    -------
    Intervals
    """
    n = len(wiring.owners)
    m = len(wiring.targets)
    samples = len(table) // width
    stride = samples_of_one(samples, n, m, limit)
    count = interval_count(samples, n, m, limit)
    course = course_in(room, count, n, m)
    inputs_at = 1 + n
    ends_at = width - 2 * m
    teeth_at = width - m
    for i in range(count + 1):
        row = width * first_sample(i, stride, samples)
        course.times[i] = table[row]
        for y in range(n):
            course.outputs[n * i + y] = table[row + 1 + y]
        for u in range(m):
            course.ends[m * i + u] = table[row + ends_at + u]
    for i in range(count):
        first = first_sample(i, stride, samples)
        last = first_sample(i + 1, stride, samples)
        length = course.times[i + 1] - course.times[i]
        centre = 0.5 * (course.times[i + 1] + course.times[i])
        for u in range(m):
            y = 1 + wiring.sources[u]
            moment = 0.0
            slope = 0.0
            for j in range(first, last):
                row = width * j
                fine = table[row + width] - table[row]
                rate = (table[row + width + y] - table[row + y]) / fine
                tooth = table[row + width + teeth_at + u] - table[row + teeth_at + u]
                slope = 12.0 * tooth / (fine * fine * fine) + rate
                integral = table[row + width + inputs_at + u] - table[row + inputs_at + u]
                middle = 0.5 * (table[row + width] + table[row]) - centre
                moment += integral * middle + slope * fine * fine * fine / 12.0
            whole = table[width * last + inputs_at + u] - table[width * first + inputs_at + u]
            course.means[m * i + u] = whole / length
            course.slopes[m * i + u] = (
                slope if last == first + 1 else 12.0 * moment / (length * length * length)
            )
    return course


def course_at(table, width, at, limit, room, pieces):
    """`resample_course` of a group with this address, and pieces of free outputs: power, interval, output."""
    wiring = wired_at(at)
    course = resample_course(room, table, width, wiring, limit)
    place = 0
    for power in range(POWERS):
        for i in range(len(course.times) - 1):
            for y in range(len(wiring.owners)):
                if wiring.driven[y] == 0:
                    pieces[place] = piece_of(course, wiring, i, y)[power]
                    place += 1
    return 0


def course_in(room, count, n, m):
    """The arrays of a course with these counts of intervals, outputs and inputs."""
    outputs = count + 1
    means = outputs + (count + 1) * n
    slopes = means + count * m
    ends = slopes + count * m
    end = ends + (count + 1) * m
    return Intervals(
        room[0:outputs], room[outputs:means], room[means:slopes], room[slopes:ends], room[ends:end]
    )


def span_of(values, first, stride, count):
    """The range of a column; its largest absolute value if it is constant but for rounding."""
    low = values[first]
    high = values[first]
    for i in range(count):
        value = values[first + stride * i]
        low = min(low, value)
        high = max(high, value)
    largest = max(abs(low), abs(high))
    return high - low if high - low > ROUNDING * largest else largest


def put_spans(values, columns, spans):
    """The span of each column."""
    for i in range(columns):
        spans[i] = span_of(values, i, columns, len(values) // columns)
    return 0


def size_of(values, first, stride, count):
    """The range of a column, or 1 if it stays at zero."""
    span = span_of(values, first, stride, count)
    return span if span > 0.0 else 1.0


def piece_of(course, wiring, i, y):
    """Coefficients of an output without inputs, by powers of the time in an interval.

    They are those of a cubic through the four nearest points, or of the line along which the output runs.
    """
    n = len(wiring.owners)
    h = course.times[i + 1] - course.times[i]
    value = course.outputs[n * i + y]
    if wiring.holds[y] != 0:
        return value, 0.0, 0.0, 0.0
    if wiring.runs_straight[y] != 0:
        return value, (course.outputs[n * (i + 1) + y] - value) / h, 0.0, 0.0
    first = max(0, min(i - 1, len(course.times) - 4))
    t0, t1, t2, t3 = (
        (course.times[first] - course.times[i]) / h,
        (course.times[first + 1] - course.times[i]) / h,
        (course.times[first + 2] - course.times[i]) / h,
        (course.times[first + 3] - course.times[i]) / h,
    )
    y0 = course.outputs[n * first + y]
    y1 = course.outputs[n * (first + 1) + y]
    y2 = course.outputs[n * (first + 2) + y]
    y3 = course.outputs[n * (first + 3) + y]
    # Newton's divided differences, then by powers
    d1 = (y1 - y0) / (t1 - t0)
    e1 = (y2 - y1) / (t2 - t1)
    f1 = (y3 - y2) / (t3 - t2)
    d2 = (e1 - d1) / (t2 - t0)
    e2 = (f1 - e1) / (t3 - t1)
    d3 = (e2 - d2) / (t3 - t0)
    constant = y0 - d1 * t0 + d2 * t0 * t1 - d3 * t0 * t1 * t2
    linear = d1 - d2 * (t0 + t1) + d3 * (t0 * t1 + t0 * t2 + t1 * t2)
    square = d2 - d3 * (t0 + t1 + t2)
    return constant, linear / h, square / (h * h), d3 / (h * h * h)
