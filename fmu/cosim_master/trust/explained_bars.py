"""Error bars of a run that equations explain: the rule, and the bars by linear equations.

All functions are kernel functions.
"""

from __future__ import annotations

import math

from cosim.kit import foreign
from cosim_master.recording.coupling_errors import FINE
from cosim_master.trust.linear_equations import WEIGHTS, linear_answer, room_needed
from cosim_master.trust.run_in_intervals import (
    POINTS,
    course_room,
    most_intervals,
    resample_course,
    span_of,
    wired_at,
)

reals_at = foreign.reals_at
EXACT = 2.0
"""Bar over the error by equations that explain the whole run."""
EXPLAINED, NOTHING = 0.03, 1e-7
"""Linear equations explain a run if the effect of their misfit is below this part of the error, or below this
part of the range."""
EXPLAINED_BENT = 1e-3
"""The part for polynomials: wrong ones grow as fast as their misfit, and were seen with a part of 0.008."""
SAME = 3.0
"""If several equations explain the run, the error is known if their errors, or quartiles of these, differ at
most by this factor."""
NONE, DIFFERENT, KNOWN = range(3)
"""No equations explain the run; several equations do, with different errors; the error is known."""
TINY = 1e-300


def bars_room(samples, outputs, inputs):
    """The count of numbers that `linear_bars` needs for this number of samples."""
    count = most_intervals(samples, outputs, inputs, POINTS)
    return course_room(count, outputs, inputs) + room_needed(count, outputs, inputs)


def bars_at(table, width, at, room_at, size):
    """`linear_bars` of a group and a room at these addresses."""
    return linear_bars(table, width, wired_at(at), reals_at(room_at, size))


def linear_bars(table, width, wiring, room):
    """Bars by linear equations, into `wiring.bars`: `NONE`, `DIFFERENT` or `KNOWN`.

    Parameters
    ----------
    table : view
        Rows of samples (`resample_course`).
    width : int
        The width of a row.
    wiring : Wired
    room : view
        `bars_room` numbers.
    """
    n = len(wiring.owners)
    m = len(wiring.targets)
    for y in range(n):
        wiring.spans[y] = span_of(table, 1 + y, width, len(table) // width)
    if not has_order(table, width):
        return NONE
    course = resample_course(room, table, width, wiring, POINTS)
    work = room[course_room(len(course.times) - 1, n, m) : len(room)]
    knowledge = bars_of(course, wiring, work, wiring.direct)
    if knowledge == NONE and not is_same(wiring.direct, wiring.surely_direct):
        knowledge = bars_of(course, wiring, work, wiring.surely_direct)
    return knowledge


def has_order(table, width):
    """Whether each sample is later than the one before."""
    for i in range(1, len(table) // width):  # noqa: SIM110
        if not table[width * i] > table[width * (i - 1)]:
            return False
    return True


def is_same(first, second):
    """Whether two views have the same numbers."""
    for i in range(len(first)):  # noqa: SIM110
        if first[i] != second[i]:
            return False
    return True


def bars_of(course, wiring, room, direct):
    """Error bars with these dependencies, by equations with each weight of inputs relative to states."""
    n = len(wiring.owners)
    for w in range(len(WEIGHTS)):
        errors = wiring.answers[2 * n * w : 2 * n * w + n]
        misfit = wiring.answers[2 * n * w + n : 2 * n * (w + 1)]
        if not linear_answer(course, wiring, room, direct, WEIGHTS[w], errors, misfit):
            return NONE
    return bars_of_answers(wiring.answers, wiring.spans, EXPLAINED, wiring.bars)


def explains(errors, misfit, spans, part):
    """Whether the effect of the misfit of equations is below this part of the error, or negligible."""
    for y in range(len(spans)):  # noqa: SIM110
        if not misfit[y] <= part * errors[y] and not misfit[y] <= NOTHING * max(spans[y], TINY):
            return False
    return True


def bars_of_answers(answers, spans, part, bars):
    """Bars of the answers that explain the run: `NONE`, `DIFFERENT` or `KNOWN`.

    Parameters
    ----------
    answers : view
        Errors and misfits of all outputs by each weight.
    spans : view
        Ranges of the outputs.
    part : float
        The part of the error.
    bars : view, 3 * outputs
        The first third are the bars, the rest is work space.
    """
    n = len(spans)
    largest = bars[0:n]
    least = bars[n : 2 * n]
    missed = bars[2 * n : 3 * n]
    for y in range(n):
        largest[y] = 0.0
        least[y] = math.inf
        missed[y] = math.inf
    knowledge = NONE
    for i in range(len(answers) // (2 * n)):
        errors = answers[2 * n * i : 2 * n * i + n]
        misfit = answers[2 * n * i + n : 2 * n * (i + 1)]
        if not explains(errors, misfit, spans, part):
            continue
        knowledge = KNOWN
        for y in range(n):
            largest[y] = max(largest[y], errors[y])
            least[y] = min(least[y], errors[y])
            missed[y] = min(missed[y], misfit[y])
    if knowledge == NONE:
        return NONE
    for y in range(n):
        bar = EXACT * (largest[y] + missed[y])
        span = max(spans[y], TINY)
        if not largest[y] <= SAME * least[y] + NOTHING * span and not bar <= FINE * span:
            knowledge = DIFFERENT
        largest[y] = bar
    return knowledge
