"""Witnesses: their memory from step to step, and ending a step just past one that crosses zero.

The states of a witness, by the fields of its record (`guard` is explained in `zeros`):

============= ====================================== ======================================================
free          band = NOT_AT_ZERO                     crossing zero in its direction is an event
at zero       band >= 0, guard = UNGUARDED           it came there itself: leaving it does nothing
on guard      band >= 0, guard = DOWNWARD, UPWARD,   it was set or turned round there: leaving that way is an
              EITHER                                 event
arrived       band >= 0, guard = ARRIVED, -ARRIVED   it has not passed: passing, staying or going back is one
passed        band >= 0, guard = PASSED, -PASSED     it was stopped just behind zero: leaving it does nothing
pending       `next_index` of its handlers is 1      it has crossed, and the next step begins with them
repeating     repeats > 0                            its events follow closely: MOST_REPEATS have it held
reported      repeats = REPORTED                     its events do not end, and it may not be held
held          listed in `held_order`,                `sliding_field` keeps it at zero: what is left of its
              direction = NO_DIRECTION               values is rounding, so the search leaves it out
leaving       repeats = LEAVING, pending             it is released, and its handlers run once more
============= ====================================== ======================================================

`expected` is beside these: a time, NOT_EXPECTED, or MISSED.
"""

from __future__ import annotations

import math

from cosim.run_data.records.plan import STOP_RUN
from cosim.run_data.records.recording import LOG_TAPE
from cosim.run_data.records.witnesses import BOTH, FALLING, NOT_AT_ZERO, NOT_EXPECTED, RISING, UNGUARDED
from cosim.run_data.run import Integers, Run
from cosim.step.block_calls import copy_reals, probed
from cosim.step.crossing import (
    MOST_PARTS,
    PARTS,
    declared_rate,
    first_crossing,
    is_crossing,
)
from cosim.step.event_log import NOT_A_NUMBER, WRONG_SIDE, report_finding
from cosim.step.failures import BlockFailed, NoAccuracy, WrongSide
from cosim.step.forecast import HALF_A_UNIT, predict_crossings
from cosim.step.holds import exclude_held, held_count, store_held_rates
from cosim.step.integration import complete, redo
from cosim.step.search_points import (
    ASIDE,
    LEFT,
    RIGHT,
    Points,
    clear_hidden,
    clear_searched,
    copy_point,
    highest_values,
    lowest_values,
    may_hide_touch,
    points_of,
    searched_without_value,
    spacing_for,
    values_at,
)
from cosim.step.straight_witnesses import UNCLEAR, first_part, locate_crossing
from cosim.step.triggered import record_isolated_window, record_window, trigger_handlers
from cosim.step.witness_values import (
    RATE_SPACING,
    compute_rates,
    copy_watched,
    direction_of,
    has_events,
    is_condition,
    shortest_pulse,
    value,
    value_above_level,
)
from cosim.step.zeros import (
    NOT_SET,
    SET_BY_OWN,
    came_to_zero,
    clear_measures,
    is_out,
    reset_level,
    rounding_near_zero,
    start_zeros,
    store_zeros,
    was_stopped_behind,
)

CHARACTERISTIC_TIME = 1.0  # s; the isolation window is 0.01 * accuracy * this, as in Drake's Simulator
WINDOW_OF_TAPE = 1e-10  # s, at most: where tangents are carried and witnesses may slide
NEARLY = 0.5  # of the window: so near to the end of a step an event is at its end
AIM = 0.01  # of the window: so far behind a zero that was foreseen the step toward it ends
CORRECTIONS = 80  # of the time of an event, where dense output and a step of its own differ
SECANTS = 4  # of them by the rates of the witnesses alone; then every second one makes the bracket smaller
BEHIND_ZERO = 0.25  # windows: so far behind the zero of a secant the next end is tried, to lie behind it
STRIDES_GROW = 4.0  # times, from one to the next
REPEATED = 1e-7  # s; closer events of one witness repeat each other where the step is much longer,
LONGER = 1e4  # so many times: shorter flights are lost in the rounding of coordinates that are not small
NEAR_BY = 10.0  # windows: events of one witness closer than that repeat each other
SEARCHED_TO = 0.1  # of the window: evaluations of witnesses are cheap, and late events add up
DIFFERENCE = 1e-6  # of the step: over which rates of witnesses that declare none are taken
WORTH_A_LOOK = 100.0  # windows: in shorter flights (that pile up) coordinates are mostly rounding
WORTH_OF_PULSE = 4.0  # windows: the same where pulses are promised that points so far apart would miss
CLOSER = 0.999  # of the distance of points: anything closer than that is more than rounding
SEARCHES = 3  # of a step again, with more points, as the witnesses turn out to be faster


def start_witnesses(run: Run, goes_on: bool) -> None:
    """Set up the memory of the witnesses at the beginning of a run, or under another integrator."""
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        was_started = witness.fired != 0.0
        has_come = witness.lies_at_zero() and witness.guard == UNGUARDED
        same = goes_on and was_started and has_come and witness.value == value(run, i)
        run.was_set[i] = SET_BY_OWN if same else NOT_SET
        witness.forget()
        witness.fired = -math.inf
        witness.expected = NOT_EXPECTED
    start_zeros(run)
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        if run.was_set[i] == SET_BY_OWN:
            witness.guard = UNGUARDED
        now = value(run, i)
        witness.value = now
        report_nan(run, i, now, run.clock.time)
        direction = direction_of(run, i)
        is_wrong = (direction == FALLING and now < 0.0) or (direction == RISING and now > 0.0)
        if is_wrong and not is_condition(run, i) and not witness.lies_at_zero():
            report_finding(run, WRONG_SIDE, i, now)
            if run.plan.policy == STOP_RUN:
                run.failure.witness = i
                raise WrongSide()


def store_witness_values(run: Run) -> None:
    """Store the values of witnesses at the end of a step: later writes are jumps from these."""
    for i in range(len(run.witnesses)):
        now = value(run, i)
        run.witnesses[i].value = now
        report_nan(run, i, now, run.clock.time)


def report_nan(run: Run, i: int, now: float, t: float) -> None:
    """Report that a witness is not a number at `t`, once in a run."""
    if now != now and run.reported_witnesses[i] == 0:
        run.reported_witnesses[i] = 1
        report_finding(run, NOT_A_NUMBER, i, t)


def report_nan_inside(run: Run) -> None:
    """Report that the search has seen a witness that was not a number before the present time."""
    i, t = searched_without_value(points_of(run))
    if i >= 0 and t <= run.clock.time:
        report_nan(run, i, math.nan, t)


def predicts_events(run: Run) -> bool:
    """Whether steps may be made to end where an event is predicted: not while a witness is held."""
    return run.method_settings.fixed_step == 0.0 and run.plan.restarts_cheaply != 0 and held_count(run) == 0


def next_predicted_crossing(run: Run) -> float:
    """The time of the next predicted crossing, s; infinite if none is predicted."""
    first = math.inf
    if predicts_events(run):
        for witness in run.witnesses:
            if run.clock.time < witness.expected < first:
                first = witness.expected
    return first


def store_start_levels(run: Run) -> None:
    """Store the witnesses at the start of a step, and the levels that they are compared with."""
    exclude_held(run)
    run.course.has_bands = 0
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        now = value(run, i)
        if is_out(run, i, now):
            reset_level(run, i, now)
        elif witness.level == 0.0 and not witness.lies_at_zero():
            witness.guard = UNGUARDED
        guard = witness.guard
        run.values_before[i] = now
        rate = declared_rate(run, i)
        if rate >= 0:
            run.rates_before[i] = run.c[rate]
        level = run.levels[i]
        level.zero = witness.level
        level.guard = UNGUARDED if was_stopped_behind(guard) else guard
        # one that has come to zero and not passed it is still on the side from which it came
        level.band = NOT_AT_ZERO if came_to_zero(guard) else witness.band
        if level.band > 0.0:
            run.course.has_bands = 1


def isolation_window(run: Run) -> float:
    """The length of the window to which events are isolated, s; NaN if they are not isolated."""
    accuracy = run.options.accuracy
    fixed = run.method_settings.fixed_step
    if accuracy != accuracy:
        return math.nan
    shortest = max(1e-14, 1e-14 * abs(run.clock.time))
    window = 0.01 * accuracy * (CHARACTERISTIC_TIME if fixed == 0.0 else fixed)
    if run.output.logging == LOG_TAPE:  # tangents are those of states at which a witness is zero
        # one that may slide has to pass its zero by more than rounding
        if not may_slide(run):
            return spacing_of(abs(run.clock.time))
        window = min(window, WINDOW_OF_TAPE)
    return max(shortest, window)


def may_slide(run: Run) -> bool:
    """Whether some witness triggers both ways: its handlers may switch it back and forth."""
    slides = False
    for witness in run.witness_kinds:
        slides = slides or (witness.direction == BOTH and witness.is_condition == 0)
    return slides


def spacing_of(x: float) -> float:
    """Distance of a number that is not negative to the next one; without functions that not all have."""
    if x < 2.2250738585072014e-308:
        return 5e-324
    return (x + x * HALF_A_UNIT) - x


def isolate_witness(run: Run, start: float) -> None:
    """End the step just past the first witness that crosses, and trigger the handlers that wait for it."""
    if len(run.witnesses) == 0:
        return
    clear_located(run)
    window = isolation_window(run)
    stop = run.clock.time
    attempted = stop - start
    has_crossed = compare_ends(run)
    if window != window:
        window = attempted
        if has_crossed and run.y.shape[0] > 0 and run.method_settings.fixed_step == 0.0:
            raise NoAccuracy()
        if has_crossed:
            record_window(run, start)
            compute_rates(run, RATE_SPACING)
    else:
        has_crossed = search_kept_step(run, start, window)
        if has_crossed:
            has_crossed = step_to_crossing(run, window)
        if has_crossed:
            record_isolated_window(run, min(run.search_window.start, run.clock.time))
        report_nan_inside(run)
        if predicts_events(run):
            predict_crossings(run, start, stop, AIM * window, has_crossed)
    if has_crossed:
        trigger_handlers(run, max(NEAR_BY * window, min(REPEATED, attempted / LONGER)))
    store_zeros(run, has_crossed)
    store_witness_values(run)
    store_held_rates(run)


def clear_located(run: Run) -> None:
    """Forget the located window: no witness has crossed in this step so far."""
    run.located.start = math.nan


def compare_ends(run: Run) -> bool:
    """Mark the witnesses that are on the other side of zero at the end of the step; whether there are any."""
    some = False
    for i in range(len(run.witnesses)):
        before = value_above_level(run, i, run.values_before[i])
        after = value_above_level(run, i, value(run, i))
        run.start_values[i] = before
        run.stop_values[i] = after
        run.has_crossed[i] = 1 if is_crossing(run, i, before, after) else 0
        some = some or run.has_crossed[i] != 0
    return some


def search_kept_step(run: Run, start: float, window: float) -> bool:
    """Keep the step that has ended, and search it; whether a witness crosses inside.

    A crossing that turns out to be rounding (`is_noise`) is searched for no more, and the step once again.
    """
    if run.method_settings.is_cubic == 0.0:
        complete(run)
    copy_reals(run.work, run.searched_work)
    # with what holds a witness, or remembers, values computed at an end again may be others
    remembers = held_count(run) > 0 or len(run.rings) > 0 or run.plan.remembers != 0
    run.course.ends_known = 1 if run.last_step.start == start and not remembers else 0
    has_crossed = search(run, run.last_step.start, run.clock.time, window)
    if has_crossed and is_noise(run):
        has_crossed = search(run, run.last_step.start, run.clock.time, window)
    run.course.ends_known = 0
    return has_crossed


def search(run: Run, start: float, stop: float, window: float) -> bool:
    """Search a part of the step that was kept for the first crossing; whether there is one."""
    points = points_of(run)
    _, c = probed(run)
    copy_watched(run, run.c, c)
    shortest = shortest_window(window, stop)
    clear_searched(points)
    if not some_have_events(run):
        return False
    part = first_part(run, start, stop)
    if part != UNCLEAR:
        if part < PARTS:
            locate_crossing(run, start, stop, part, shortest)
        return part < PARTS
    has_crossed = first_crossing(run, start, stop, shortest, DIFFERENCE * (stop - start), PARTS)
    has_crossed = search_hidden(run, start, stop, window, has_crossed)
    for i in range(points.witnesses):
        # for the prediction: where the whole step has ended
        run.stop_values[i] = value_above_level(run, i, value(run, i))
    return has_crossed


def some_have_events(run: Run) -> bool:
    """Whether a witness may cross at all: not if all are held."""
    some = False
    for i in range(len(run.witnesses)):
        some = some or has_events(run, i)
    return some


def shortest_window(window: float, stop: float) -> float:
    """The length to which a search narrows down a crossing, s: no less than times before `stop` can show."""
    return max(SEARCHED_TO * window, 4.0 * spacing_of(abs(stop)))


def search_hidden(run: Run, start: float, stop: float, window: float, has_crossed: bool) -> bool:
    """Search what lies before a crossing (or the end) once more, as long as it may hide between points.

    The first search stays as it is where nothing may. Whether there is a crossing.
    """
    points = points_of(run)
    shortest = shortest_window(window, stop)
    difference = DIFFERENCE * (stop - start)
    spacing = (stop - start) / PARTS
    for _ in range(SEARCHES):
        distance = points_apart(run, points, spacing, has_crossed)
        end = run.search_window.start if has_crossed else stop
        worth = WORTH_OF_PULSE if shortest_pulse(run) < spacing else WORTH_A_LOOK
        if not distance < CLOSER * spacing or not end - start > worth * window:
            break
        parts = max(PARTS + 1, math.ceil((end - start) / distance))
        spacing = (end - start) / parts
        if has_crossed:
            for i in range(points.witnesses):
                run.stop_values[i] = values_at(points, LEFT)[i]
        try:
            has_crossed = search_again(run, start, end, shortest, difference, parts) or has_crossed
        except BlockFailed:
            break  # what was found before stays
    return has_crossed


def search_again(run: Run, start: float, end: float, shortest: float, difference: float, parts: int) -> bool:
    """Search with more points; where nothing is found, the window that was known stays."""
    points = points_of(run)
    last = run.search_window.end
    copy_point(points, LEFT, ASIDE)
    copy_point(points, RIGHT, ASIDE + 1)
    clear_hidden(points)
    has_crossed = False
    try:
        has_crossed = first_crossing(run, start, end, shortest, difference, parts)
    except BlockFailed:
        restore_window(run, end, last)
        raise
    if not has_crossed:
        restore_window(run, end, last)
    return has_crossed


def restore_window(run: Run, start: float, end: float) -> None:
    """Restore the window that was known before the last search."""
    points = points_of(run)
    copy_point(points, ASIDE, LEFT)
    copy_point(points, ASIDE + 1, RIGHT)
    run.search_window.start = start
    run.search_window.end = end


def is_noise(run: Run) -> bool:
    """Whether some witness crosses only because rounding had moved it to the side it comes from.

    Such a witness came from the other side, went along zero and back. It counts as zero within its rounding
    for the rest of this step (`Level.band`).
    """
    count = len(run.witnesses)
    points = points_of(run)
    has_noise = False
    clear_measures(run)
    for i in range(count):
        before = run.start_values[i]
        left = values_at(points, LEFT)[i]
        if not (before * left < 0.0 and is_crossing(run, i, left, values_at(points, RIGHT)[i])):
            continue
        furthest = (lowest_values(points) if left < 0.0 else highest_values(points))[i]
        noise = rounding_near_zero(run, i, furthest, before)
        if abs(furthest) <= noise:
            run.levels[i].band = noise
            run.course.has_bands = 1
            has_noise = True
    return has_noise


def points_apart(run: Run, points: Points, spacing: float, has_crossed: bool) -> float:
    """The largest distance of points at which witnesses are evaluated, by their rates and promises.

    `spacing` is how far apart they were. Where a witness that declares its rate could have hidden something
    between two of them, at the largest of its rates, half of it: then such parts are halved, too. One that
    lies at zero until a crossing has rates of rounding.
    """
    count = len(run.witnesses)
    distance = math.inf
    for i in range(count):
        starts_at_zero = has_crossed and values_at(points, LEFT)[i] == 0.0
        if not is_condition(run, i) and not starts_at_zero:
            distance = min(distance, spacing_for(points, i))
            if declared_rate(run, i) >= 0 and may_hide_touch(points, i):
                distance = min(distance, 0.5 * spacing)
    length = run.clock.time - run.last_step.start
    return min(max(distance, length / MOST_PARTS), shortest_pulse(run))


def mark_crossed(run: Run, crossed: Integers) -> None:
    """Mark the witnesses that have crossed from the start of the window to now."""
    for i in range(len(run.witnesses)):
        now = value_above_level(run, i, value(run, i))
        run.present_values[i] = now
        crossed[i] = 1 if is_crossing(run, i, run.window_values[i], now) else 0


def is_crossing_missing(run: Run) -> bool:
    """Whether a witness that has to cross, of those in `has_crossed`, has not yet done so now."""
    mark_crossed(run, run.crossed_at_trial)
    missing = False
    for i in range(len(run.witnesses)):
        missing = missing or (run.has_crossed[i] != 0 and run.crossed_at_trial[i] == 0)
    return missing


def largest_shift(run: Run) -> float:
    """The delay until the last of the witnesses that have to cross does so, by present values and rates."""
    shift = 0.0
    is_first = True
    for i in range(len(run.witnesses)):
        if run.has_crossed[i] != 0:
            part = run.present_values[i] / run.rates_now[i]
            if part - part == 0.0:
                if is_first or -part > shift:
                    shift = -part
                is_first = False
    return shift


def step_to_crossing(run: Run, window: float) -> bool:
    """Repeat the step so that it ends just past the crossing; return whether a witness has crossed there.

    `has_crossed` then says which, `rates_now` has their rates. Dense output and a step of the method itself
    may differ about the zero: then the end is moved (`move_end`).
    """
    list_must_cross(run)
    stop = run.clock.time
    if stop - run.search_window.end <= NEARLY * window:
        run.search_window.end = stop  # the step ends there already
    spacing = min(RATE_SPACING, 1e-3 * (stop - run.last_step.start))
    is_redone = move_end(run, window, spacing)
    if is_redone or spacing < RATE_SPACING:
        compute_rates(run, RATE_SPACING)
    mark_crossed(run, run.has_crossed)
    some = False
    for i in range(len(run.witnesses)):
        some = some or run.has_crossed[i] != 0
    return some


def move_end(run: Run, window: float, spacing: float) -> bool:
    """Repeat the step with other ends until all witnesses that must have crossed, the last within `window`.

    The next end is found by the values and rates of the witnesses (SECANTS), in turns with halves of the
    bracket; where the bracket has no far end but that of the step yet, in strides that grow. Returns whether
    the step was repeated since the rates were computed.
    """
    stop = run.clock.time
    start = run.last_step.start
    time = run.search_window.end
    stride = window
    too_early = start  # the latest end at which not all have crossed
    far_enough = math.inf if is_crossing_missing(run) else stop  # the earliest end at which all have
    missing = False
    for n in range(CORRECTIONS):
        if run.clock.time != time:
            redo(run, time)
        missing = is_crossing_missing(run)
        if missing and n >= SECANTS and far_enough == math.inf and accept_crossed(run):
            missing = False
            too_early = start
        if missing:
            too_early = time
        else:
            far_enough = time
        compute_rates(run, spacing)
        shift = largest_shift(run)
        if time >= stop or (not missing and (shift >= -window or far_enough - too_early <= window)):
            break
        guess = time + shift + BEHIND_ZERO * window
        if not too_early < guess < far_enough or (n >= SECANTS and n % 2 == 0):
            strides = missing and too_early + stride < far_enough
            guess = too_early + stride if strides else 0.5 * (too_early + far_enough)
            stride = STRIDES_GROW * stride if strides else stride
        if guess in (too_early, far_enough):
            break
        time = min(guess, stop)
        run.search_window.start = max(time - window, start)
    if missing and far_enough < math.inf:
        redo(run, far_enough)
        return True
    return False


def accept_crossed(run: Run) -> bool:
    """Let those witnesses have to cross that have now, and wait for no others; whether there are some.

    A crossing that a step of its own does not show was rounding, or a later step will show it.
    """
    some = False
    for crossed in run.crossed_at_trial:
        some = some or crossed != 0
    if some:
        for i in range(len(run.witnesses)):
            run.has_crossed[i] = run.crossed_at_trial[i]
    return some


def list_must_cross(run: Run) -> None:
    """List in `has_crossed` what crosses from LEFT to RIGHT; `window_values` then are those at LEFT."""
    points = points_of(run)
    for i in range(points.witnesses):
        low = values_at(points, LEFT)[i]
        run.window_values[i] = low
        run.has_crossed[i] = 1 if is_crossing(run, i, low, values_at(points, RIGHT)[i]) else 0
