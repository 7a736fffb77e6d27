"""Integrals over a sliding window: the base of sliding mean and RMS."""

from __future__ import annotations

import math

import cosim
from cosim_measures.histories import before_start, delayed_value
from cosim_measures.histories.lookup import DENSE


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
        Length of the window.
    """

    source = cosim.source(description="what is averaged")
    window = cosim.parameter(unit="s", minimum=1e-12, description="length of the window")
    integral = cosim.auxiliary_state(description="the integral since the start")
    integrand = cosim.cache_slot(description="what is integrated")
    average = cosim.cache_slot(description="mean of the integrand over the window")
    oldest_rate = cosim.cache_slot(description="the integrand where the window begins")
    past = cosim.history(of="source", keep="window")
    window_start = cosim.cache_slot(unit="s", description="where the window begins")
    smooth_until = cosim.cache_slot(unit="s", description="when a break leaves the window")
    break_order = cosim.cache_slot(description="order of the break that leaves the window just now")
    last_start = cosim.discrete(
        unit="s",
        internal=True,
        invalidates=cosim.Stage.REPORT,
        description="where the window began at the end of the last step",
    )

    @cosim.kernel
    def accumulate(s):
        s.integral_dot = s.integrand

    @cosim.kernel
    def start_window(s):
        s.window_start = s.t - s.window
        s.smooth_until = s.past.break_time + s.window
        s.break_order = math.inf
        if s.window_start >= s.past.break_time - 1e-14 * max(1.0, abs(s.t)):
            s.break_order = s.past.next_break_order

    @cosim.kernel
    def average_over_window(s):
        before, before_rate = before_start(s.past, s.window_start)
        old, rate = delayed_value(
            s.past,
            True,  # settled: the piece was chosen when the step began
            s.window_start,
            s.t,
            True,  # has_present: the integral is known at t
            s.integral,
            s.integrand,
            DENSE,
            s.integral,  # the result while nothing is stored
            before,
        )
        s.average = (s.integral - old) / s.window
        s.oldest_rate = rate if rate == rate else before_rate
        if before != before:  # the history has no entries yet
            s.average = s.integrand
            s.oldest_rate = s.integrand

    @cosim.update(at="inside")
    def remember_inside(s):
        s.past.append(s.t, s.side, s.smoothness, s.integral, s.integrand)

    @cosim.update
    def remember(s):
        s.past.append(s.t, s.side, s.smoothness, s.integral, s.integrand)
        s.past.enter_piece(s.t, s.window_start)
        if s.side == 0.0:
            s.past.trim(s.t, min(s.last_start, s.window_start))
        s.last_start_next = s.window_start
