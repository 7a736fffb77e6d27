"""A signal as it was some time ago."""

from __future__ import annotations

import cosim
from cosim import append_to_history, extrapolation_error, interpolate_history, trim_history
from cosim_measures.smooth_until import smooth_until as next_kink


class Delay(cosim.Measure):
    """The value that a source had at the time t - delay.

    Law: value(t) = source(t - delay); before the start the source counts as constant at its initial
    value.

    A value of the source is remembered at the beginning of every step, and at an instant with events
    one before and one after them. Between two of these:

    - the cubic Hermite polynomial, third order, where the source has a time derivative;
    - else the cubic through the four values around, as far as there are four;
    - else, or with `use_linear_interpolation_only`, a line.

    A jump (two values at one instant) stays a jump: nothing is interpolated across it.

    Limits: when the delay is shorter than the step, t - delay lies after the newest value. Unless
    `can_use_current_value` is set the same polynomial is then extrapolated, which is less accurate.
    Set the flag if the source does not depend on the delayed value. The end of a step tells how far
    off the extrapolation was, and the cubic over this step will be (`step_error`): error control then
    takes a smaller step. Fixed steps, sources without derivative and lines are not controlled.

    Parameters
    ----------
    source : measure or path of a scalar signal
        What is delayed.
    delay : float, s, >= 0
        With 0 and `can_use_current_value` the measure is its source.
    default_value : float, in the unit of the source
        The value while nothing is remembered, before a simulation is initialized.
    use_linear_interpolation_only : bool
        Lines only, also for extrapolation: less accurate, never unstable.
    can_use_current_value : bool
        Take the present value of the source as the newest one. The measure is then known no earlier
        than its source, and the source must not depend on it at the same instant.

    Returns
    -------
    value : in the unit of the source
    value_dot : per second
        Derivative of the polynomial that gives the value; 0 before the start.
    smooth_until : s
        When the delayed signal will begin, jump or have a kink; steps with error control end there.
    step_error : 1
        Estimated relative error of the values that this step extrapolates or leaves to later ones.

    Raises
    ------
    ModelError
        When the delay is negative or not a number.

    References
    ----------
    Simbody API documentation, class ``SimTK::Measure_<T>::Delay``.

    Examples
    --------
    >>> Delay(source="speed", delay="5 ms").delay
    0.005
    """

    unit_from = "source"

    source = cosim.source(description="what is delayed")
    delay = cosim.parameter(unit="s", minimum=0.0, description="how long")
    default_value = cosim.parameter(default=0.0, description="value while nothing is remembered")
    use_linear_interpolation_only = cosim.option(False)
    can_use_current_value = cosim.option(False)
    past = cosim.history(of="source", keep="delay")
    smooth_until = cosim.cache_slot(
        unit="s", description="next time at which the delayed signal is not smooth"
    )
    step_error = cosim.cache_slot(description="estimated relative error of the remembered signal")

    @cosim.kernel(unless="can_use_current_value")
    def from_the_past(
        t, past, past_ring, delay, default_value, use_linear_interpolation_only, value, value_dot
    ):
        found, rate = interpolate_history(
            past, past_ring, t - delay, t, 0.0, 0.0, 0.0, use_linear_interpolation_only, default_value
        )
        value[0] = found
        value_dot[0] = rate

    @cosim.kernel(when="can_use_current_value")
    def up_to_the_present(
        t, past, past_ring, delay, use_linear_interpolation_only, source, source_dot, value, value_dot
    ):
        if delay == 0.0:
            value[0] = source
            value_dot[0] = source_dot
        else:
            found, rate = interpolate_history(
                past, past_ring, t - delay, t, 1.0, source, source_dot, use_linear_interpolation_only, source
            )
            value[0] = found
            value_dot[0] = rate

    @cosim.kernel
    def look_back(
        t,
        past,
        past_ring,
        delay,
        can_use_current_value,
        use_linear_interpolation_only,
        source,
        source_dot,
        step_error,
    ):
        step_error[0] = extrapolation_error(
            past,
            past_ring,
            t - delay,
            t,
            can_use_current_value,
            source,
            source_dot,
            use_linear_interpolation_only,
        )

    @cosim.kernel
    def look_ahead(t, past, past_ring, delay, smooth_until):
        smooth_until[0] = next_kink(past, past_ring, delay, t)

    @cosim.update
    def remember(t, side, source, source_dot, delay, past, past_ring):
        trim_history(past, past_ring, t, t - delay)
        append_to_history(past, past_ring, t, side, source, source_dot)
        # What was a jump at this very instant is over when it is not delayed at all.
        trim_history(past, past_ring, t, t - delay)
