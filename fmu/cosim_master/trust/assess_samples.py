"""The assessment of the samples of a run, for libraries without Python.

It is `assess_coupling` without a second run: the error is known if inputs were exact (`exact_inputs`), or if
linear equations explain the whole run (`explained_bars`). All functions are kernel functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from cosim.kit import Integers, Reals, foreign, group_reader, integers_at
from cosim_master.exchange.coupled_participants import LARGEST
from cosim_master.exchange.row_samples import start_samples
from cosim_master.recording.collect_samples import (
    STORED,
    STRIDE,
    collected_at,
    finish_samples,
)
from cosim_master.trust.coupling_error import LEAST, TOO_MANY
from cosim_master.trust.coupling_report import EXPLODED, EXPLODED_UNKNOWN, NOTHING_BUT_ERROR
from cosim_master.trust.exact_inputs import are_exact
from cosim_master.trust.explained_bars import KNOWN, bars_room, linear_bars
from cosim_master.trust.least_squares import clear
from cosim_master.trust.run_in_intervals import WIRED_HEAD, wired_at
from cosim_master.trust.verdict import IS_FINE, MAY_BE_EXACT, UNKNOWN, UNSTABLE, put_scales, verdict_of

reals_at = foreign.reals_at
NOT_KNOWN, ABSENT = -1.0, -2.0
"""The error of an output if it is not known; during the assessment, if the output has no value."""
VERDICT, ERROR, FIRST_BAR = range(3)
"""Places in `Assessment.outcome`: the verdict, the largest error, and the error of the first output."""


class Assessment(NamedTuple):
    """Facts of a coupling before it runs; the head follows that of `Wired`.

    Attributes
    ----------
    judged, is_residual : ndarray of int, shape (outputs,)
        1 if an output is judged; if it is a residual of energies.
    groups : ndarray of int, shape (outputs,)
        Outputs of one participant and one unit have one number.
    facts : ndarray, shape (4,)
        See `facts_of`.
    changes : ndarray
    at_once : ndarray of int, shape (inputs,)
        The fields of `PossiblyExact`, if inputs may be exact.
    largest : ndarray, shape (outputs,)
        Work space.
    outcome : ndarray, shape (2 + outputs,)
        The verdict, the largest error of the range of its output, and each error.
    """

    judged: Integers
    is_residual: Integers
    groups: Integers
    facts: Reals
    changes: Reals
    at_once: Integers
    largest: Reals
    outcome: Reals


_read_assessment = group_reader(Assessment)
ASSESSMENT_HEAD = 2 * len(Assessment._fields)
WORD = 8
"""Bytes of a word of a head."""


def assessment_after(address):
    """The `Assessment` whose head follows that of the `Wired` at an address."""
    return _read_assessment(integers_at(address + WORD * WIRED_HEAD, ASSESSMENT_HEAD))


def assessment_room(address, at):
    """The count of numbers that `assess_samples` needs for samples (`Collected`) and coupling (`Wired`)."""
    samples = collected_at(address)
    wiring = wired_at(at)
    most_samples = samples.counts[STORED] + 3  # the last ones come at the end
    return bars_room(most_samples, len(wiring.owners), len(wiring.targets))


def assess_samples(address, at, room_at, size):
    """Compute the error, into `Assessment.outcome`; the samples are overwritten.

    Parameters
    ----------
    address, at : int
        The addresses of `Collected`, with room for three more samples, and of `Wired` and `Assessment`.
    room_at, size : int
        Address and size of work space.
    """
    samples = collected_at(address)
    wiring = wired_at(at)
    assessment = assessment_after(at)
    n = len(wiring.owners)
    m = len(wiring.targets)
    for y in range(n):
        assessment.outcome[FIRST_BAR + y] = NOT_KNOWN
    assessment.outcome[ERROR] = NOT_KNOWN
    assessment.outcome[VERDICT] = float(UNKNOWN)
    if m == 0:
        assessment.outcome[ERROR] = 0.0
        assessment.outcome[VERDICT] = float(IS_FINE)
        return 0
    count = finish_samples(samples)
    width = len(samples.present)
    table = samples.kept[0 : width * count]
    mark_absent_outputs(table, width, wiring, assessment)
    assess_table(table, width, count, samples, wiring, assessment, reals_at(room_at, size))
    for y in range(n):
        if assessment.outcome[FIRST_BAR + y] == ABSENT:
            assessment.outcome[FIRST_BAR + y] = NOT_KNOWN
    return 0


def mark_absent_outputs(table, width, wiring, assessment):
    """Mark outputs that feed nothing and have no finite value at the start; their samples become 0.

    A derivative that does not exist is not a number, the time of an event that does not come is infinite.
    """
    for y in range(len(wiring.owners)):
        feeds = False
        for source in wiring.sources:
            if source == y:
                feeds = True
        if not feeds and table[1 + y] - table[1 + y] != 0.0:
            assessment.outcome[FIRST_BAR + y] = ABSENT
            for i in range(len(table) // width):
                table[width * i + 1 + y] = 0.0


def assess_table(table, width, count, samples, wiring, assessment, room):
    """Assess a table of samples in which every output has a value."""
    n = len(wiring.owners)
    if not is_bounded(table, width, n):
        assessment.outcome[VERDICT] = float(UNSTABLE)
        return
    may_be_exact = assessment.facts[MAY_BE_EXACT] != 0.0
    changes, at_once = assessment.changes, assessment.at_once
    if may_be_exact and are_exact(table, width, n, wiring.sources, changes, at_once) != 0:
        clear(wiring.bars)
        report(table, width, samples, wiring, assessment)
        return
    if count <= LEAST or n + len(wiring.targets) > TOO_MANY:
        return
    is_known = False
    if samples.counts[STRIDE] > 1 or not drives_jumps(samples, wiring):
        is_known = linear_bars(table, width, wiring, room) == KNOWN
    if is_known:
        report(table, width, samples, wiring, assessment)
    elif has_grown(table, width, n, EXPLODED_UNKNOWN):
        assessment.outcome[VERDICT] = float(UNSTABLE)


def is_bounded(table, width, n):
    """Whether no output has exploded."""
    for i in range(len(table) // width):
        for y in range(n):
            if not abs(table[width * i + 1 + y]) <= LARGEST:
                return False
    return True


def drives_jumps(samples, wiring):
    """Whether a discrete output is of a participant with inputs."""
    for y in range(len(wiring.owners)):  # noqa: SIM110
        if samples.jumps[y] != 0 and wiring.driven[y] != 0:
            return True
    return False


def report(table, width, samples, wiring, assessment):
    """Errors, the largest one of the range of its output, and the verdict."""
    n = len(wiring.owners)
    bars = wiring.bars
    scales = wiring.spans
    put_scales(scales, assessment.groups, assessment.is_residual, assessment.largest)
    has_smooth = False
    for y in range(n):
        if assessment.judged[y] != 0 and samples.jumps[y] == 0:
            has_smooth = True
    worst = 0.0
    for y in range(n):
        if assessment.judged[y] == 0 or assessment.outcome[FIRST_BAR + y] == ABSENT:
            continue
        relative = 0.0
        if bars[y] > 0.0:
            relative = bars[y] / scales[y] if scales[y] > 0.0 else math.inf
        assessment.outcome[FIRST_BAR + y] = bars[y]
        if samples.jumps[y] == 0 or not has_smooth:
            worst = max(worst, relative)
    assessment.outcome[ERROR] = worst
    assessment.outcome[VERDICT] = float(verdict_of(worst, assessment.facts))
    if worst >= NOTHING_BUT_ERROR and has_grown(table, width, n, EXPLODED):
        assessment.outcome[VERDICT] = float(UNSTABLE)


def has_grown(table, width, n, growth):
    """Whether the largest output of the second half is `growth` times its size in the first half."""
    samples = len(table) // width
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


ASSESSING: dict[str, tuple[Callable[..., Any], str]] = {
    "start_samples": (start_samples, "ii>i"),
    "assessment_room": (assessment_room, "ii>i"),
    "assess_samples": (assess_samples, "iiii>i"),
}
"""The functions that a library calls, with their signatures."""
