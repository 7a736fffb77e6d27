"""Integrals over the last while: what sliding mean and RMS have in common."""

from __future__ import annotations

import math

import cosim
from cosim.kit import append_to_history, break_time, enter_piece, next_break_order, trim_history
from cosim_measures.histories import before_start, delayed_value

DENSE = 2.0


class SlidingWindow(cosim.Measure):
    """Base of measures over a window of time that ends now; a subclass says what is integrated.

    Law: average(t) = (I(t) - I(t - window)) / window with I' = integrand. I is a state, so error control sees
    it, and its past is kept with the derivatives: inside the window nothing is sampled. Before the start
    the source counts as constant at its initial value.

    Parameters
    ----------
    source : measure or path of a signal
        What is averaged; a vector element by element.
    window : float, s, > 0
        How long.
    """

    source = cosim.source(description="what is averaged")
    window = cosim.parameter(unit="s", minimum=1e-12, description="how long")
    integral = cosim.auxiliary_state(description="the integral since the start")
    integrand = cosim.cache_slot(description="what is integrated")
    average = cosim.cache_slot(description="mean of the integrand over the window")
    oldest_rate = cosim.cache_slot(description="the integrand where the window begins")
    past = cosim.history(of="source", keep="window")
    window_start = cosim.cache_slot(unit="s", description="where the window begins")
    smooth_until = cosim.cache_slot(unit="s", description="when a break leaves the window")
    break_order = cosim.cache_slot(description="order of the break that leaves the window just now")
    last_start = cosim.discrete(unit="s", internal=True, invalidates=cosim.Stage.REPORT)

    @cosim.kernel
    def accumulate(integrand, integral_dot):
        integral_dot[0] = integrand

    @cosim.kernel
    def look_where(t, window, past, past_ring, window_start, smooth_until, break_order):
        window_start[0] = t - window
        smooth_until[0] = break_time(past, past_ring) + window
        break_order[0] = math.inf
        if window_start[0] >= break_time(past, past_ring) - 1e-14 * max(1.0, abs(t)):
            break_order[0] = next_break_order(past, past_ring)

    @cosim.kernel
    def look_back(t, integral, integrand, window, window_start, past, past_ring, average, oldest_rate):
        before, before_rate = before_start(past, past_ring, window_start)
        old, rate = delayed_value(
            past, past_ring, True, window_start, t, True, integral, integrand, DENSE, integral, before
        )
        average[0] = (integral - old) / window
        oldest_rate[0] = rate if rate == rate else before_rate
        if before != before:  # nothing is remembered yet
            average[0] = integrand
            oldest_rate[0] = integrand

    @cosim.update(at="inside")
    def note_inside(t, side, smoothness, integral, integrand, past, past_ring):
        append_to_history(past, past_ring, t, side, smoothness, integral, integrand)

    @cosim.update
    def note(
        t,
        side,
        smoothness,
        integral,
        integrand,
        window_start,
        last_start,
        last_start_next,
        past,
        past_ring,
    ):
        append_to_history(past, past_ring, t, side, smoothness, integral, integrand)
        enter_piece(past, past_ring, t, window_start)
        if side == 0.0:
            trim_history(past, past_ring, t, min(last_start, window_start))
        last_start_next[0] = window_start
