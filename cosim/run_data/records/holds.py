"""Witnesses that are held at zero, and what holds them there.

Whole numbers are floats here, since these records lie among the saved numbers of a State.
"""

from __future__ import annotations

from cosim_compiler.record import Record


class Holds(Record):
    """How many witnesses are held, and what that has changed; the array `held_order` lists which."""

    count: float
    uses_own_method: float  # 1.0: the memory of the method is that of the system with held witnesses
    has_derivatives: float  # 1.0: the derivatives in the cache are those of `sliding_field`
    has_moving: float  # 1.0: a witness is held again since the last step, and still moves


PUSHED, SWITCHED, SET_BACK = 0, 1, 2
"""Hold.kind: how `sliding_field` holds a witness, by its rate, by variables or by its value."""


class Hold(Record):
    """How a witness is held: by a push of its rate or of itself, or by variables that it switches."""

    kind: float  # PUSHED, SET_BACK: states are pushed for its rate, its value; SWITCHED: variables are mixed
    side: float  # the side from which it came: 1.0 from above, -1.0 from below
    size: float  # PUSHED, SET_BACK: numbers in its push, one a state; SWITCHED: variables; 0.0: not known
    was_released: float  # 1.0: the handler of another witness has ended its hold


IN_SWITCH_D, IN_SWITCH_K, IN_SWITCH_P = 0, 1, 2
"""Switch.array. Saved states have these numbers, so they are not those of IN_D, IN_K and IN_P."""


class Switch(Record):
    """A variable that a held witness switches."""

    array: float  # IN_SWITCH_D, IN_SWITCH_K, IN_SWITCH_P
    offset: float  # its place in that array
    present: float  # its value after the last handler
    other: float  # its value on the other side of zero
