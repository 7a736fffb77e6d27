"""A signal as it was some time ago, where the time varies."""

from __future__ import annotations

import math

import cosim
from cosim_measures.delay import LIMIT, Delay, advance_piece, remember_source


class VariableDelay(Delay):
    """The value that a source had at the time t - delay, where the delay is a measure itself.

    Law: value(t) = source(t - delay(t)), value_dot = source'(t - delay) (1 - delay'), NaN where the delay has
    no derivative. Everything else is as for `Delay`.

    Limits: t - delay(t) must not go back. The delay may be 0 only with `can_use_current_value`, and it is
    never negative; a run in which it is ends with an error that says so. Where breaks arrive depends
    on the solution: they are located as triggered events (`arrival`), for the first element of a
    vector. Steps of a fixed length without an accuracy are not cut there.

    Parameters
    ----------
    source : measure or path of a signal
        What is delayed.
    delay : measure or path of a signal, s
        How long.
    others
        As for `Delay`.

    Returns
    -------
    breaks : int
        How many breaks have arrived.

    Examples
    --------
    >>> VariableDelay(source="speed", delay="lag").delay
    'lag'
    """

    conditions = {
        **Delay.conditions,
        "sees_present": lambda self: bool(self.can_use_current_value),
        "is_source": lambda self: False,
    }

    stays_in_the_past = None  # it follows a signal
    delay = cosim.source(unit="s", description="how long")
    breaks = cosim.discrete(dtype=int, description="how many breaks have arrived", diagnostic=True)

    @cosim.kernel
    def delayed_rate(s):
        s.delayed_time_dot = 1.0 - s.delay_dot

    @cosim.kernel
    def settle_piece(s):
        s.settled = 1.0

    @cosim.kernel
    def next_break(s):
        s.smooth_until = math.inf
        if (s.long_steps == LIMIT or s.source_dot != s.source_dot) and s.delay > 0.0:
            s.smooth_until = s.t + s.delay

    @cosim.witness(direction="rising")
    def arrival(s):
        return max(s.delayed_time - s.past.break_time, -1e9)

    @cosim.on(arrival, does="discrete")
    def count(s):
        s.breaks_next = s.breaks + 1

    @cosim.update
    def remember(s):
        if not s.delayed_time <= s.t:
            raise ValueError("the delay is negative or not a number: it has to be 0 or more")
        if s.delayed_time == s.t and s.can_use_current_value == 0.0:
            raise ValueError("the delay has reached 0: set can_use_current_value, or keep it above 0")
        if s.past.count > 0 and s.delayed_time < s.last_delayed_time - 1e-9 * max(1.0, abs(s.t)):
            raise ValueError("t - delay decreases: the delay must not grow faster than time")
        remember_source(s)
        advance_piece(s)
