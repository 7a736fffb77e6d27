"""What measures with a past have in common."""

from __future__ import annotations

HERMITE, LINEAR, DENSE = 0.0, 1.0, 2.0
SAME_TIME = 1e-14  # relative


def interpolation_kind(s):
    """The kind of interpolation that two options stand for."""
    if s.use_linear_interpolation_only != 0.0:
        return LINEAR
    return DENSE if s.interpolation == 1.0 else HERMITE


def beyond(past, delayed_time):
    """How far a time lies after the newest entry of a history, s; 0 when it does not.

    Also 0 while the piece that the time lies in does not reach to the newest entry.
    """
    if not past.is_open:
        return 0.0
    farther = delayed_time - past.newest_time
    return farther if farther > SAME_TIME * max(1.0, abs(delayed_time)) else 0.0
