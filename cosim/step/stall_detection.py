"""Runs that would practically never end: steps are counted, not seconds."""

from __future__ import annotations

import math

from cosim.step.integration import method_arrays
from cosim.step.run import Run

STRETCH = 2_000  # steps; then it is asked whether they get shorter without end
STRETCHES = 50  # after so many it is asked whether it would take too long at the pace of all of them
MOST_STEPS = 1e10  # that is, more than so many to the end
MOST_WHEN_SLOWER = 1e9  # the same where one stretch after the other got less far
SLOWER = 0.5  # less than that part of the one before
SLOWER_IN_A_ROW = 3  # one is what begins with a contact


def forget_pace(run: Run) -> None:
    """A run begins, or goes on from another time."""
    pace = run.pace
    pace.begin_of_all = pace.begin = run.clock.time
    pace.finished_stretches = pace.slower_stretches = 0.0
    pace.last_progress = 0.0
    run.course.counted_steps = 0


def is_stalled(run: Run, t: float) -> bool:
    """After a step: whether it would take far too many to reach `t`."""
    run.course.counted_steps += 1
    if run.course.counted_steps < STRETCH:
        return False
    return is_too_far(run, t)


def is_too_far(run: Run, t: float) -> bool:
    """At the end of a stretch of steps: whether `t` is too many steps away, or they get ever shorter."""
    pace = run.pace
    now = run.clock.time
    if not pace.begin <= now:
        forget_pace(run)
        return False
    run.course.counted_steps = 0
    if not t < math.inf:
        return False
    progress = now - pace.begin
    slower = progress < SLOWER * pace.last_progress
    pace.slower_stretches = pace.slower_stretches + 1.0 if slower else 0.0
    pace.last_progress = progress
    pace.begin = now
    pace.finished_stretches += 1.0
    too_far = False
    if pace.slower_stretches >= SLOWER_IN_A_ROW:
        too_far = progress * MOST_WHEN_SLOWER < (t - now) * STRETCH
    if pace.finished_stretches >= STRETCHES:
        begin = pace.begin_of_all
        if (now - begin) * MOST_STEPS < (t - begin) * STRETCH * STRETCHES:
            too_far = True
        pace.begin_of_all = now
        pace.finished_stretches = 0.0
    if too_far:
        run.failure.fastest = fastest_state(run)
    return too_far


def fastest_state(run: Run) -> int:
    """Index of the state whose rate is the largest for its size, in absolute tolerances at least."""
    tolerances = method_arrays(run).absolute_tolerances
    found = -1
    largest = 0.0
    for m in range(run.y.shape[0]):
        rate = abs(run.c[m]) / max(abs(run.y[m]), tolerances[m])
        if rate > largest:
            largest = rate
            found = m
    return found
