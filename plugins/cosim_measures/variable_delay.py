"""A signal as it was some time ago, where the time varies."""

from __future__ import annotations

import math

import cosim
from cosim.kit import append_to_history, break_time, enter_piece, entry_count, mark_start, trim_history
from cosim_measures.delay import LIMIT, Delay


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
    breaks = cosim.discrete(dtype=int, description="how many breaks have arrived")

    @cosim.kernel
    def look_how_fast(delay_dot, delayed_time_dot):
        delayed_time_dot[0] = 1.0 - delay_dot

    @cosim.kernel
    def look_whether(settled):
        settled[0] = 1.0

    @cosim.kernel
    def look_ahead(t, delay, source_dot, long_steps, smooth_until):
        smooth_until[0] = math.inf
        if (long_steps == LIMIT or source_dot != source_dot) and delay > 0.0:
            smooth_until[0] = t + delay

    @cosim.witness(direction="rising")
    def arrival(delayed_time, past, past_ring):
        return max(delayed_time - break_time(past, past_ring), -1e9)

    @cosim.on(arrival, does="discrete")
    def count(breaks, breaks_next):
        breaks_next[0] = breaks + 1

    @cosim.update
    def remember(
        t,
        side,
        smoothness,
        source,
        source_dot,
        history,
        history_dot,
        delayed_time,
        delayed_time_dot,
        longest_delay,
        can_use_current_value,
        extrapolation,
        last_delayed_time,
        last_delayed_time_next,
        largest_extrapolation,
        largest_extrapolation_next,
        past,
        past_ring,
    ):
        if not delayed_time <= t:
            raise ValueError("the delay is negative or not a number: it has to be 0 or more")
        if delayed_time == t and can_use_current_value == 0.0:
            raise ValueError("the delay has reached 0: set can_use_current_value, or keep it above 0")
        if entry_count(past_ring) > 0 and delayed_time < last_delayed_time - 1e-9 * max(1.0, abs(t)):
            raise ValueError("t - delay goes back: the delay must not grow faster than time")
        largest_extrapolation_next[0] = max(largest_extrapolation, extrapolation)
        append_to_history(past, past_ring, t, side, smoothness, source, source_dot)
        mark_start(past, past_ring, history, history_dot / delayed_time_dot)
        enter_piece(past, past_ring, t, delayed_time)
        if side == 0.0:
            trim_history(past, past_ring, t, min(last_delayed_time, t - longest_delay, delayed_time))
        last_delayed_time_next[0] = delayed_time
