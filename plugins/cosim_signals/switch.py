"""One of two signals."""

from __future__ import annotations

import cosim
from cosim_signals.logic_level import TRUE_ABOVE, is_true, logic_level


class Switch(cosim.Measure):
    """One of two signals, as a third one says.

    Law: value = first while the condition is true, which is above one half, else second; the derivatives are
    those of the chosen one. Switching is an event (Triggered), located in time.

    Limits: scalar signals only.

    Parameters
    ----------
    condition : measure or path of a signal
        As `signals.comparison`, `signals.hysteresis` and `signals.logic` give one: 1 or 0.
    first, second : measure or path of a signal
        The second is converted to the unit of the first.

    References
    ----------
    Modelica Standard Library, block ``Logical.Switch`` (u1, u2, u3: first, condition, second).

    Examples
    --------
    >>> Switch(condition="manual", first="stick", second="autopilot").first
    'stick'
    """

    elementwise = False
    unit_from = "first"

    announces_kinks = True

    condition = cosim.source(description="which of them")
    first = cosim.source(description="while the condition is true")
    second = cosim.source(unit="{first}", description="while it is false")
    is_first = cosim.discrete(dtype=int, description="whether the condition passed one half upward last")

    @cosim.kernel
    def choose(condition, first, second, is_first, value):
        value[0] = first if logic_level(condition, is_first) == 1 else second

    @cosim.kernel
    def derivative(condition, first_dot, second_dot, is_first, value_dot):
        value_dot[0] = first_dot if logic_level(condition, is_first) == 1 else second_dot

    @cosim.kernel
    def second_derivative(condition, first_dot2, second_dot2, is_first, value_dot2):
        value_dot2[0] = first_dot2 if logic_level(condition, is_first) == 1 else second_dot2

    @cosim.kernel
    def third_derivative(condition, first_dot3, second_dot3, is_first, value_dot3):
        value_dot3[0] = first_dot3 if logic_level(condition, is_first) == 1 else second_dot3

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(condition, is_first_next):
        is_first_next[0] = is_true(condition)

    @cosim.witness(direction="rising")
    def rises(condition):
        return condition - TRUE_ABOVE

    @cosim.on(rises, does="discrete")
    def take_first(is_first_next):
        is_first_next[0] = 1

    @cosim.witness(direction="falling")
    def falls(condition):
        return condition - TRUE_ABOVE

    @cosim.on(falls, does="discrete")
    def take_second(is_first_next):
        is_first_next[0] = 0
