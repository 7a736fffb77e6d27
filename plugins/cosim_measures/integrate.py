"""The integral of a signal over time."""

from __future__ import annotations

import cosim


class Integrate(cosim.Measure):
    """The integral of a signal over time, as a state of the system.

    Law: d(integral)/dt = source, value = integral, value_dot = source. The integral is an auxiliary
    state, so error control sees it. (The unit is that of the source times s; it is not declared.)

    Parameters
    ----------
    source : measure or path of a scalar signal
        What is integrated.
    integral : float
        Start value.

    Examples
    --------
    >>> Integrate(source="power", integral=-0.25).integral
    -0.25
    """

    source = cosim.source(description="what is integrated")
    integral = cosim.auxiliary_state(description="the integral so far")

    @cosim.kernel
    def value(integral, value):
        value[0] = integral

    @cosim.kernel
    def derivative(source, integral_dot, value_dot):
        integral_dot[0] = source
        value_dot[0] = source
