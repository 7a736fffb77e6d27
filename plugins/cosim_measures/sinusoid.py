"""A sinusoid of time."""

from __future__ import annotations

import math

import cosim


class Sinusoid(cosim.Measure):
    """A sinusoid of time.

    Law: value = amplitude sin(frequency t + phase), known at stage TIME, with its derivative.

    Parameters
    ----------
    amplitude : float
    frequency : float, rad/s
    phase : float, rad

    Examples
    --------
    >>> Sinusoid(amplitude=2.0, frequency=3.0).phase
    0.0
    """

    amplitude = cosim.parameter(default=1.0, description="largest value")
    frequency = cosim.parameter(unit="rad/s", default=1.0, description="angular frequency")
    phase = cosim.parameter(unit="rad", default=0.0, description="angle at t = 0")

    @cosim.kernel
    def wave(t, amplitude, frequency, phase, value, value_dot):
        angle = frequency * t + phase
        value[0] = amplitude * math.sin(angle)
        value_dot[0] = amplitude * frequency * math.cos(angle)
