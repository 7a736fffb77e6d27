"""A sine whose frequency sweeps."""

from __future__ import annotations

import math

import cosim
from cosim_signals.source import Source


class Chirp(Source):
    """A sine whose frequency grows linearly from one value to another.

    Law: value = offset + amplitude sin(2 pi (f0 s + (f1 - f0) s^2 / (2 duration))) with
    s = t - start_time between 0 and `duration`; offset before, and the frequency f1 goes on after. Three
    derivatives are known. The frequency at the time s is f0 + (f1 - f0) s / duration. The beginning and the
    end of the sweep are announced: steps of an adaptive integrator end there.

    Parameters
    ----------
    amplitude : float, in the unit of the value
    start_frequency, end_frequency : float, Hz
        f0 and f1.
    duration : float, s, > 0
        Of the sweep.
    unit, offset, start_time
        As for `Source`.

    References
    ----------
    A. V. Oppenheim, R. W. Schafer, *Discrete-Time Signal Processing*, on the linear chirp (not opened here).
    SciPy, ``signal.chirp(method="linear", phi=-90)``, is the same sweep.

    Examples
    --------
    >>> Chirp(amplitude="10 N", start_frequency=1.0, end_frequency="2 kHz", duration=5.0).end_frequency
    2000.0
    """

    announces_kinks = True

    amplitude = cosim.parameter(unit="{value}", default=1.0, description="largest value")
    start_frequency = cosim.parameter(unit="Hz", default=1.0, minimum=0.0, description="at the beginning")
    end_frequency = cosim.parameter(unit="Hz", default=10.0, minimum=0.0, description="at the end")
    duration = cosim.parameter(unit="s", default=1.0, minimum=1e-12, description="of the sweep")
    smooth_until = cosim.cache_slot(unit="s", description="when the sweep begins or ends")
    angle = cosim.cache_slot(unit="rad", description="argument of the sine")
    speed = cosim.cache_slot(unit="rad/s", description="its rate")
    growth = cosim.cache_slot(unit="rad/s2", description="the rate of its rate")

    @cosim.kernel
    def sweep(t, start_time, start_frequency, end_frequency, duration, angle, speed, growth):
        s = t - start_time
        slope = (end_frequency - start_frequency) / duration
        if s < duration:
            angle[0] = 2.0 * math.pi * (start_frequency + 0.5 * slope * s) * s
            speed[0] = 2.0 * math.pi * (start_frequency + slope * s)
            growth[0] = 2.0 * math.pi * slope
        else:
            turns = 0.5 * (start_frequency + end_frequency) * duration + end_frequency * (s - duration)
            angle[0] = 2.0 * math.pi * turns
            speed[0] = 2.0 * math.pi * end_frequency
            growth[0] = 0.0

    @cosim.kernel
    def swing(
        t, start_time, offset, amplitude, angle, speed, growth, value, value_dot, value_dot2, value_dot3
    ):
        size = amplitude if t >= start_time else 0.0
        w = speed
        sine = size * math.sin(angle)
        cosine = size * math.cos(angle)
        value[0] = offset + sine
        value_dot[0] = w * cosine
        value_dot2[0] = growth * cosine - w * w * sine
        value_dot3[0] = -3.0 * w * growth * sine - w * w * w * cosine

    @cosim.kernel
    def find_next_break(t, start_time, duration, smooth_until):
        smooth_until[0] = math.inf
        if t < start_time:
            smooth_until[0] = start_time
        elif t < start_time + duration:
            smooth_until[0] = start_time + duration
