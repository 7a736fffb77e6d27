"""A sinusoid of time."""

from __future__ import annotations

import math

import cosim


class Sinusoid(cosim.Measure):
    """A sinusoid of time.

    Law: value = amplitude sin(frequency t + phase), known at stage TIME, with three derivatives.

    Parameters
    ----------
    amplitude : float, in the unit of the value
    frequency : float, rad/s
    phase : float, rad
        Each one number, or one for each element of a vector.
    unit : str, optional
        Of the value; without it that of the amplitude, ``"400 N"``, or of what the measure is connected to.

    Examples
    --------
    >>> Sinusoid(amplitude=2.0, frequency=3.0).phase
    0.0
    """

    known_as = ("sine", "sin", "cosine", "cos", "sine_wave", "harmonic")
    unit = cosim.option("", unit_of="value")
    amplitude = cosim.parameter(unit="{value}", default=1.0, each=True, description="largest value")
    frequency = cosim.parameter(unit="rad/s", default=1.0, each=True, description="angular frequency")
    phase = cosim.parameter(unit="rad", default=0.0, each=True, description="angle at t = 0")

    @cosim.kernel
    def wave(t, amplitude, frequency, phase, value, value_dot, value_dot2, value_dot3):
        angle = frequency * t + phase
        value[0] = amplitude * math.sin(angle)
        value_dot[0] = amplitude * frequency * math.cos(angle)
        value_dot2[0] = -frequency * frequency * value[0]
        value_dot3[0] = -frequency * frequency * value_dot[0]
