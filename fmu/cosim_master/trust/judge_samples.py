"""What the samples of a run say of the error of its coupling, for libraries without Python.

It is `assess_coupling` without a second run, where linear equations explain the whole run
(`linear_equations`); of any other run it says that the error is unknown. All functions are kernel functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from cosim.kit import Integers, Reals, foreign, group_reader, integers_at
from cosim_master.exchange.coupled_participants import LARGEST
from cosim_master.exchange.lead_exchanges import start_samples
from cosim_master.recording.co_simulation_result import FINE
from cosim_master.recording.collect_samples import (
    HEAD,
    SAMPLES,
    STRIDE,
    finish_samples,
    read_collected,
)
from cosim_master.trust.advice import MOST_SHORTER
from cosim_master.trust.coupling_error import EXACT, EXPLAINED, LEAST, NOTHING, SAME, TOO_MANY
from cosim_master.trust.coupling_report import (
    EXPLODED,
    EXPLODED_UNKNOWN,
    NOTHING_BUT_ERROR,
    ROUNDING,
)
from cosim_master.trust.linear_coupling import WEIGHTS
from cosim_master.trust.linear_equations import (
    Intervals,
    interval_count,
    linear_answer,
    room_needed,
    take_course,
)

reals_at = foreign.reals_at
VERDICTS = ("fine", "smaller step", "tighter tolerance", "other algorithm", "unknown", "unstable")
IS_FINE, SMALLER_STEP, TIGHTER, OTHER_ALGORITHM, UNKNOWN, UNSTABLE = range(1, len(VERDICTS) + 1)
NOT_KNOWN = -1.0
"""An error that is not known."""
ORDER, IS_TIGHTENED, HAS_OTHER, FACTS = range(4)
"""Of the algorithm: its order, whether it has a tolerance, whether another one errs less."""
VERDICT, ERROR, FIRST_BAR = range(3)


class Judged(NamedTuple):
    """What is known of a coupling before it runs, and room for the rest.

    Attributes
    ----------
    owners : ndarray of int, shape (outputs,)
        The participant of each output that is sampled.
    sources, targets : ndarray of int, shape (inputs,)
        The output that an input stands for, and its participant.
    direct, surely : ndarray of int, shape (outputs * inputs,)
        1 where an output follows an input at once; and where that is sure.
    driven, holds, runs_straight, wanted, is_residual : ndarray of int, shape (outputs,)
        1 where an output is of a participant with inputs; stays over an exchange; runs along lines; is
        judged; is a residual of energies.
    groups : ndarray of int, shape (outputs,)
        Outputs of one participant and one unit have one number.
    facts : ndarray, shape (3,)
    states, own, given : ndarray of int
        Room: places of states, and those of one participant.
    bars : ndarray
        Room: of each weight errors and misfits; then bars, ranges, sizes and scales.
    found : ndarray, shape (2 + outputs,)
        The verdict, the largest error of the range of its output, and each error.
    """

    owners: Integers
    sources: Integers
    targets: Integers
    direct: Integers
    surely: Integers
    driven: Integers
    holds: Integers
    runs_straight: Integers
    wanted: Integers
    is_residual: Integers
    groups: Integers
    facts: Reals
    states: Integers
    own: Integers
    given: Integers
    bars: Reals
    found: Reals


read_judged = group_reader(Judged)
JUDGED_HEAD = 2 * len(Judged._fields)
BARS_OF_ONE = 2 * len(WEIGHTS) + 6
"""Numbers for each output in `Judged.bars`."""


def judge_room(address, at):
    """How many numbers `judge` needs for the samples (`Collected`) and the coupling (`Judged`)."""
    s = read_collected(integers_at(address, HEAD))
    k = read_judged(integers_at(at, JUDGED_HEAD))
    samples = s.counts[SAMPLES] // s.counts[STRIDE] + 4
    return room_needed(interval_count(samples, len(k.owners), len(k.targets)), len(k.owners), len(k.targets))


def judge(address, at, room_at, size):
    """Work the error out, into `Judged.found`; the samples are used up.

    Parameters
    ----------
    address, at : int
        Of `Collected`, with room for three more samples, and of `Judged`.
    room_at, size : int
        Address of so many reals.
    """
    s = read_collected(integers_at(address, HEAD))
    k = read_judged(integers_at(at, JUDGED_HEAD))
    n = len(k.owners)
    m = len(k.targets)
    for y in range(n):
        k.found[FIRST_BAR + y] = NOT_KNOWN
    k.found[ERROR] = NOT_KNOWN
    k.found[VERDICT] = float(UNKNOWN)
    if m == 0:
        k.found[ERROR] = 0.0
        k.found[VERDICT] = float(IS_FINE)
        return 0
    samples = finish_samples(s)
    width = len(s.present)
    is_finite = measure_outputs(s.kept, width, samples, k)
    if not is_finite:
        k.found[VERDICT] = float(UNSTABLE)
        return 0
    if samples <= LEAST or n + m > TOO_MANY:
        return 0
    is_known = False
    if s.counts[STRIDE] > 1 or not drives_jumps(s, k):
        is_known = find_bars(s.kept, width, samples, k, reals_at(room_at, size))
    if is_known:
        report(s.kept, width, samples, s, k)
    elif has_grown(s.kept, width, samples, n, EXPLODED_UNKNOWN):
        k.found[VERDICT] = float(UNSTABLE)
    return 0


def column(k, number):
    """Numbers of all outputs in `bars`."""
    n = len(k.owners)
    return k.bars[n * number : n * (number + 1)]


def measure_outputs(table, width, samples, k):
    """Ranges and sizes of outputs; False where one is beyond all bounds."""
    ranges = column(k, 2 * len(WEIGHTS) + 1)
    sizes = column(k, 2 * len(WEIGHTS) + 2)
    for y in range(len(k.owners)):
        low = table[1 + y]
        high = low
        for i in range(samples):
            value = table[width * i + 1 + y]
            if not abs(value) <= LARGEST:
                return False
            low = min(low, value)
            high = max(high, value)
        ranges[y] = high - low
        sizes[y] = max(abs(low), abs(high))
    return True


def drives_jumps(s, k):
    """Whether a discrete output is of a participant with inputs."""
    for y in range(len(k.owners)):  # noqa: SIM110
        if s.jumps[y] != 0 and k.driven[y] != 0:
            return True
    return False


def find_bars(table, width, samples, k, room):
    """Bars by linear equations; False where these do not explain the run."""
    n = len(k.owners)
    m = len(k.targets)
    count = interval_count(samples, n, m)
    starts = (count + 1, (count + 1) * n, count * m, count * m, (count + 1) * m)
    first = starts[0]
    second = first + starts[1]
    third = second + starts[2]
    fourth = third + starts[3]
    fifth = fourth + starts[4]
    course = Intervals(
        room[0:first], room[first:second], room[second:third], room[third:fourth], room[fourth:fifth]
    )
    take_course(course, table, width, samples, k)
    rest = room[fifth : len(room)]
    if not has_order(course.times):
        return False
    bars = column(k, 2 * len(WEIGHTS))
    if bars_of(course, k, rest, k.direct, bars):
        return bars[0] == bars[0]
    if is_same(k.direct, k.surely):
        return False
    if bars_of(course, k, rest, k.surely, bars):
        return bars[0] == bars[0]
    return False


def has_order(times):
    """Whether each time is later than the one before."""
    for i in range(1, len(times)):  # noqa: SIM110
        if not times[i] > times[i - 1]:
            return False
    return True


def is_same(one, other):
    """Whether both have the same numbers."""
    for i in range(len(one)):  # noqa: SIM110
        if one[i] != other[i]:
            return False
    return True


def span_of(k, y):
    """The range of an output; the size of one that is constant."""
    ranges = column(k, 2 * len(WEIGHTS) + 1)
    sizes = column(k, 2 * len(WEIGHTS) + 2)
    return max(ranges[y] if ranges[y] > ROUNDING * sizes[y] else sizes[y], 1e-300)


def bars_of(course, k, room, direct, bars):
    """Whether equations with these dependencies explain the run; bars, NaN where weights differ too much."""
    n = len(k.owners)
    has_any = False
    largest = column(k, 2 * len(WEIGHTS) + 3)
    least = column(k, 2 * len(WEIGHTS) + 4)
    missed = column(k, 2 * len(WEIGHTS) + 5)
    for y in range(n):
        largest[y] = 0.0
        least[y] = math.inf
        missed[y] = math.inf
    for w in range(len(WEIGHTS)):
        if not linear_answer(course, k, room, direct, WEIGHTS[w], column(k, 2 * w), column(k, 2 * w + 1)):
            return False
    for w in range(len(WEIGHTS)):
        errors = column(k, 2 * w)
        misfit = column(k, 2 * w + 1)
        is_good = True
        for y in range(n):
            if not misfit[y] <= EXPLAINED * errors[y] and not misfit[y] <= NOTHING * span_of(k, y):
                is_good = False
        if not is_good:
            continue
        has_any = True
        for y in range(n):
            largest[y] = max(largest[y], errors[y])
            least[y] = min(least[y], errors[y])
            missed[y] = min(missed[y], misfit[y])
    if not has_any:
        return False
    agree = True
    for y in range(n):
        bars[y] = EXACT * (largest[y] + missed[y])
        span = span_of(k, y)
        if not largest[y] <= SAME * least[y] + NOTHING * span and not bars[y] <= FINE * span:
            agree = False
    if not agree:
        bars[0] = math.nan
    return True


def report(table, width, samples, s, k):
    """Errors, the largest one of the range of its output, and the verdict."""
    n = len(k.owners)
    bars = column(k, 2 * len(WEIGHTS))
    ranges = column(k, 2 * len(WEIGHTS) + 1)
    sizes = column(k, 2 * len(WEIGHTS) + 2)
    scales = column(k, 2 * len(WEIGHTS) + 3)
    for y in range(n):
        scales[y] = ranges[y] if ranges[y] > ROUNDING * sizes[y] else sizes[y]
    has_smooth = False
    for y in range(n):
        if k.wanted[y] != 0 and s.jumps[y] == 0:
            has_smooth = True
    worst = 0.0
    for y in range(n):
        if k.wanted[y] == 0:
            continue
        larger = 0.0
        for x in range(n):
            if k.groups[x] == k.groups[y]:
                larger = max(larger, scales[x])
        scale = scales[y]
        if scale <= ROUNDING * larger or k.is_residual[y] != 0:
            scale = larger
        relative = 0.0
        if bars[y] > 0.0:
            relative = bars[y] / scale if scale > 0.0 else math.inf
        k.found[FIRST_BAR + y] = bars[y]
        if s.jumps[y] == 0 or not has_smooth:
            worst = max(worst, relative)
    k.found[ERROR] = worst
    k.found[VERDICT] = float(verdict_of(worst, k.facts))
    if worst >= NOTHING_BUT_ERROR and has_grown(table, width, samples, n, EXPLODED):
        k.found[VERDICT] = float(UNSTABLE)


def verdict_of(relative, facts):
    """As `assess_coupling.verdict`."""
    if relative <= FINE:
        return IS_FINE
    if facts[IS_TIGHTENED] != 0.0:
        return TIGHTER
    shorter = math.pow(relative / FINE, 1.0 / facts[ORDER])
    if facts[HAS_OTHER] != 0.0 and (shorter > MOST_SHORTER or relative > 1.0):
        return OTHER_ALGORITHM
    return SMALLER_STEP


def has_grown(table, width, samples, n, growth):
    """Whether the largest output of the second half is so many times what it was in the first one."""
    middle = samples // 2
    place = 0
    largest = -1.0
    for y in range(n):
        late = 0.0
        for i in range(middle, samples):
            late = max(late, abs(table[width * i + 1 + y]))
        if late > largest:
            largest = late
            place = y
    early = 0.0
    for i in range(middle + 1):
        early = max(early, abs(table[width * i + 1 + place]))
    return largest > growth * max(early, 1e-300)


JUDGING: dict[str, tuple[Callable[..., Any], str]] = {
    "start_samples": (start_samples, "ii>i"),
    "judge_room": (judge_room, "ii>i"),
    "judge": (judge, "iiii>i"),
}
"""What a library calls, with the signatures."""
