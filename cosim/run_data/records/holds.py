"""Witnesses that are held at zero, and what holds them there."""

from __future__ import annotations

from cosim_compiler.record import Record


class Holds(Record):
    """Which witnesses are held: how many; see `holds`."""

    count: float
    uses_own_method: float  # whether the memory of the method is that of a system with held witnesses
    has_derivatives: float  # whether the derivatives in the cache are those with what holds them


PUSHED, SWITCHED, SET_BACK = 0, 1, 2
"""Hold.kind: how `sliding_field` holds a witness."""


class Hold(Record):
    """How a witness is held: by a push of its rate or of itself, or by variables that it switches."""

    kind: float  # PUSHED, SET_BACK, SWITCHED
    side: float  # where it came from: 1 from above, -1 from below
    size: float  # how many states are pushed, or variables switched


IN_SWITCH_D, IN_SWITCH_K, IN_SWITCH_P = 0, 1, 2
"""Switch.array: numbers of their own, since saved states have them (not IN_D, IN_K, IN_P)."""


class Switch(Record):
    """A variable that a held witness switches."""

    array: float  # IN_SWITCH_D, IN_SWITCH_K, IN_SWITCH_P, and its place there
    offset: float
    present: float  # its value
    other: float  # its value on the other side
