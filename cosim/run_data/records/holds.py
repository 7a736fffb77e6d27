"""Witnesses that are held at zero, and what holds them there."""

from __future__ import annotations

from cosim_compiler.record import Record


class Holds(Record):
    """How many witnesses are held, and what that has changed; `held_order` says which."""

    count: float
    uses_own_method: float  # 1.0: the memory of the method is that of the system with held witnesses
    has_derivatives: float  # 1.0: the derivatives in the cache are those of `sliding_field`


PUSHED, SWITCHED, SET_BACK = 0, 1, 2
"""Hold.kind: how `sliding_field` holds a witness."""


class Hold(Record):
    """How a witness is held: by a push of its rate or of itself, or by variables that it switches."""

    kind: float  # PUSHED, SET_BACK: states are pushed for its rate, its value; SWITCHED: variables are mixed
    side: float  # the side from which it came: 1.0 from above, -1.0 from below
    size: float  # numbers in its push (all states), or variables that it switches; 0.0: neither is known


IN_SWITCH_D, IN_SWITCH_K, IN_SWITCH_P = 0, 1, 2
"""Switch.array: numbers of their own, since saved states have them (not IN_D, IN_K, IN_P)."""


class Switch(Record):
    """A variable that a held witness switches."""

    array: float  # IN_SWITCH_D, IN_SWITCH_K, IN_SWITCH_P
    offset: float  # its place there
    present: float  # its value, which the last handler has left
    other: float  # its value on the other side of zero
