"""The place inside the last step at which a signal was largest or smallest."""

from __future__ import annotations

from cosim.kit import is_same
from cosim_measures.histories import has_derivatives, interpolate_history, value_in_piece
from cosim_measures.histories.lookup import DENSE

MINIMUM, MAXIMUM, MIN_ABS, MAX_ABS = 0.0, 1.0, 2.0, 3.0
OLD, PRESENT, NEW = 0.0, 1.0, 2.0
INSIDE = -1.0
PARTS = 8  # of the interval between two points: two turns of the signal in one part are missed
BISECTIONS = 52


def sized(value, kind):
    """The part of a value that an extreme of this kind stores."""
    return abs(value) if kind >= MIN_ABS else value


def better(value, best, kind):
    """Whether a value goes beyond the extreme so far."""
    smaller = kind in (MINIMUM, MIN_ABS)
    return sized(value, kind) < best if smaller else sized(value, kind) > best


def newness(t, value, best, seen, time, kind):
    """Whether a value goes beyond the extreme so far, or is the extreme at this very instant, or neither."""
    if seen == 0 or better(value, best, kind):
        return NEW
    return PRESENT if time == t and sized(value, kind) == best else OLD


def changed(value, rate, derivative, kind, is_new):
    """A derivative of the extreme, from that of the signal and its rate of change."""
    away = value < 0.0 and kind >= MIN_ABS
    speed = -rate if away else rate
    if is_new == OLD or (
        is_new == PRESENT and not (speed < 0.0 if kind in (MINIMUM, MIN_ABS) else speed > 0.0)
    ):
        return 0.0
    return -derivative if away else derivative


def is_inside(past, t):
    """Whether `t` lies inside the newest step, which has ended and is evaluated between its ends."""
    last = past.count - 1
    return last >= 0 and t < past.time(last) and past.kind(last) >= 0.0


def newest_step(past):
    """Indices of the entries at the two ends of the newest step; the first is -1 where there is no step."""
    last = past.count - 1
    while last > 0 and is_same(past.time(last - 1), past.time(last)):
        last -= 1
    first = last - 1
    while first > 0 and past.kind(first) < 0.0:
        first -= 1
    return first, last


def start_of_step(past):
    """When the newest step began, s; there has to be an entry."""
    first, _ = newest_step(past)
    return past.time(max(first, 0))


def best_of_step(past, kind, best, when, until):
    """The extreme and its time, after a look at the newest step, up to the time `until`.

    Between two points the signal is the polynomial through all points of the step, or of a part of it if it
    was refined. There is an extreme where the derivative changes its sign; where the signal changes its
    sign, its smallest magnitude is 0.
    """
    first, last = newest_step(past)
    while 0 <= first < last and past.time(first) < until:
        end = first + 1
        while end < last and past.kind(end) == INSIDE:
            end += 1
        best, when = best_of_piece(past, first, end, kind, best, when, until)
        first = end
    return best, when


def best_of_piece(past, first, last, kind, best, when, until):
    """The extreme and its time, after a look at one polynomial."""
    for index in range(first, last):
        begin = past.time(index)
        part = (min(past.time(index + 1), until) - begin) / PARTS
        if not part > 0.0:
            break
        low = begin
        value, rate = value_there(past, first, last, low)
        for i in range(PARTS):
            high = begin + part * (i + 1)
            later, later_rate = value_there(past, first, last, high)
            if rate * later_rate < 0.0:
                at = turn(past, first, last, low, high, rate)
                turning_value, _ = value_there(past, first, last, at)
                if better(turning_value, best, kind):
                    best = sized(turning_value, kind)
                    when = at
            if kind == MIN_ABS and value * later < 0.0:
                best = 0.0
                when = zero(past, first, last, low, high, value)
            low = high
            value = later
            rate = later_rate
    return best, when


def value_there(past, first, last, at):
    """Value and derivative of the signal between two entries of the newest step."""
    if has_derivatives(past, first, last):
        return value_in_piece(past, first, last, at, DENSE)
    return interpolate_history(past, at, at, False, 0.0, 0.0, DENSE, 0.0)


def turn(past, first, last, low, high, rate):
    """The place at which the derivative, which is `rate` at `low`, changes its sign."""
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        _, there = value_there(past, first, last, middle)
        if there * rate > 0.0:
            low = middle
        else:
            high = middle
    return high


def zero(past, first, last, low, high, value):
    """The place at which the signal, which is `value` at `low`, changes its sign."""
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        there, _ = value_there(past, first, last, middle)
        if there * value > 0.0:
            low = middle
        else:
            high = middle
    return high
