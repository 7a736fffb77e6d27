"""The place of a time inside a step, so exact that a straight line meets both ends to the last bit."""

from __future__ import annotations

from typing import NamedTuple

SPLITTER = 134217729.0  # 2^27 + 1 splits a number into halves of 26 digits each (Dekker)


def exact_difference(a, b):
    """``a - b``, rounded, and the rounding error that is missing from it."""
    result = a - b
    back = result - a
    return result, (a - (result - back)) - (b + back)


def halves(a):
    """Two numbers of half as many digits whose sum is `a`."""
    shifted = SPLITTER * a
    upper = shifted - (shifted - a)
    return upper, a - upper


def is_late(t, start, end):
    """Whether `t` is nearer to the end of a step than to its start."""
    return t - start > end - t


class PlaceInStep(NamedTuple):
    """The place of a time inside a step."""

    is_late: bool  # nearer to the end of the step than to its start
    share: float  # distance from the nearer one of both, over the length of the step
    lost: float  # the rounding error that is missing from `share`

    @property
    def from_start(place):
        """Distance from the start, over the length of the step."""
        return 1.0 - place.share if place.is_late else place.share

    @property
    def to_end(place):
        """Distance to the end, over the length of the step."""
        return place.share if place.is_late else 1.0 - place.share

    def fall(place, near, other):
        """The difference between `near` and the line from there to the value `other` at the far end."""
        fall = near - other
        back = fall - near
        rounding = (near - (fall - back)) - (other + back)
        return place.share * fall + (place.lost * fall + place.share * rounding)


def place_in_step(t, start, end):
    """The place of `t` in the step from `start` to `end`.

    References
    ----------
    T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik
    18 (1971).
    """
    late = is_late(t, start, end)
    distance, lost_of_distance = exact_difference(end, t) if late else exact_difference(t, start)
    length, lost_of_length = exact_difference(end, start)
    share = distance / length
    product = share * length
    a, b = halves(share)
    c, d = halves(length)
    remainder = (distance - product) - (((a * c - product) + a * d + b * c) + b * d)
    lost = (remainder + (lost_of_distance - share * lost_of_length)) * (1.0 / length)
    return PlaceInStep(late, share, lost)
