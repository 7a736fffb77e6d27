"""Witnesses that touch zero: within the accuracy of the run they cross it, or they do not.

Derivatives of the run exist on either side only, so the tape says where that is.
"""

from __future__ import annotations

import math

from cosim.run_data.records.recording import LOG_TAPE
from cosim.run_data.run import Run
from cosim.step.event_log import TOUCHED
from cosim.step.roundings import error_of_accuracy, measure_rounding
from cosim.step.search_points import LEFT, RIGHT, Points, rates_at, time_at, values_at
from cosim.step.tape import log_mark

CLOSE = 0.05  # of its values at the ends of a step: only a turn closer to zero counts as a touch
SLOWED = 0.05  # of the change of its rate in a part: so slow at its end, it turns there
AROUND = 2.0  # times as long before its turn as it stays closer than the accuracy, a witness may cross


def note_touch(run: Run, i: int, t: float, value: float, rate: float, bend: float) -> None:
    """Record that witness `i` turns close to a time, if it turns closer to zero than its values are exact.

    Its value and its rate there are given, and how fast the rate changes. Its error is what errors of the
    accuracy in the states and in the time change in it. A held witness does not count, nor one that turns
    back to zero: it has not come from the side on which the step began.
    """
    if run.output.logging != LOG_TAPE or run.probes[i].direction == 0:
        return
    if not run.start_values[i] * bend > 0.0:
        return
    distance = abs(value) + 0.5 * rate * rate / abs(bend)
    if not distance <= CLOSE * max(abs(run.start_values[i]), abs(run.stop_values[i])):
        return
    measure_rounding(run)
    error = error_of_accuracy(run, i)
    if distance <= error:
        log_mark(run, TOUCHED, t, float(i), AROUND * math.sqrt(2.0 * error / abs(bend)))


def note_touches(run: Run, points: Points) -> None:
    """Record the witnesses that turn close to zero at the end of the searched part.

    One that comes to zero and stays there turns no sooner than after the time in which it slows down.
    """
    if run.output.logging != LOG_TAPE:
        return
    end = time_at(points, RIGHT)
    length = end - time_at(points, LEFT)
    for i in range(points.witnesses):
        rate = rates_at(points, RIGHT)[i]
        change = rate - rates_at(points, LEFT)[i]
        if length > 0.0 and abs(rate) <= SLOWED * abs(change):
            bend = change / length
            note_touch(run, i, end, values_at(points, RIGHT)[i], rate, bend)
