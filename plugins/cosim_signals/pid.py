"""A controller with proportional, integral and derivative part."""

from __future__ import annotations

import cosim

PID_, PI, PD, P = 0.0, 1.0, 2.0, 3.0
NO_BOUND = 1e300


class Pid(cosim.Measure):
    """A PID controller with bounds, anti-windup, weights of the set point and a filtered derivative.

    Law: value = unlimited, between `lower` and `upper`, where

    unlimited = gain (setpoint_weight setpoint - measurement + integral + rate),

    integral' = (setpoint - measurement + (value - unlimited) / (anti_windup gain)) / integral_time,

    rate = derivative_time (e - filtered) / T, filtered' = (e - filtered) / T, with
    e = derivative_setpoint_weight setpoint - measurement and T = derivative_time / derivative_filter.

    At a bound the integral is led back, so that the controller leaves the bound as soon as the error turns:
    this is back-calculation. The filter begins at e: no kick at the start. Reaching and leaving a bound
    is an event (Triggered).

    Limits: scalar signals only. With a sampled measurement set derivative_time to several periods over
    derivative_filter.

    Parameters
    ----------
    setpoint, measurement : measure or path of a signal
        The measurement is converted to the unit of the set point.
    gain : float, in the unit of the value by that of the set point
    integral_time, derivative_time : float, s, > 0 and >= 0
    lower, upper : float, in the unit of the value
        No bounds unless given; with lower above upper a run ends with an error that says so.
    controller : "PID", "PI", "PD" or "P"
    setpoint_weight, derivative_setpoint_weight : float
    anti_windup : float, > 0
        Time constant of leading back, by integral_time.
    derivative_filter : float, > 0
        The larger, the faster the derivative is.
    integral : float, in the unit of the set point
        Start value of the state.

    Returns
    -------
    value, unlimited : in the unit of the value
    kinks : int
        How often a bound was reached or left.

    References
    ----------
    Modelica Standard Library, block ``Continuous.LimPID`` (k, Ti, Td, yMax, yMin, wp, wd, Ni, Nd), for the
    law and its defaults. K. J. Astrom, T. Hagglund, *PID Controllers* (1995), on back-calculation
    (not opened here). Drake, class ``PidController`` (kp, ki, kd).

    Examples
    --------
    >>> Pid(setpoint="wanted", measurement="speed", gain="0.3 V.s/rad", lower="-12 V", upper="12 V").upper
    12.0
    """

    known_as = ("pi", "pd", "controller")
    elementwise = False
    announces_kinks = True

    setpoint = cosim.source(description="what is wanted")
    measurement = cosim.source(unit="{setpoint}", description="what there is")
    gain = cosim.parameter(unit="{value}/{setpoint}", default=1.0, description="of all three parts")
    integral_time = cosim.parameter(unit="s", default=0.5, minimum=1e-12, description="of the integral part")
    derivative_time = cosim.parameter(
        unit="s", default=0.1, minimum=0.0, description="of the derivative part"
    )
    lower = cosim.parameter(unit="{value}", default=-NO_BOUND, description="lower bound of the value")
    upper = cosim.parameter(unit="{value}", default=NO_BOUND, description="upper bound of the value")
    controller = cosim.option("PID", choices=("PID", "PI", "PD", "P"), description="which parts it has")
    setpoint_weight = cosim.parameter(unit="1", default=1.0, description="in the proportional part")
    derivative_setpoint_weight = cosim.parameter(unit="1", default=0.0, description="in the derivative part")
    anti_windup = cosim.parameter(
        unit="1", default=0.9, minimum=1e-12, description="how slowly it is led back"
    )
    derivative_filter = cosim.parameter(
        unit="1", default=10.0, minimum=1e-12, description="how fast the derivative is"
    )
    integral = cosim.auxiliary_state(unit="{setpoint}", description="of the error, by the integral time")
    filtered = cosim.auxiliary_state(
        unit="{setpoint}", description="what the derivative is taken of, delayed"
    )
    unlimited = cosim.cache_slot(unit="{value}", description="value without bounds")
    kinks = cosim.discrete(dtype=int, description="how often a bound was reached or left")

    value_dot = None
    value_dot2 = None
    value_dot3 = None

    @cosim.kernel(refuses=["the lower bound is above the upper one: exchange them"])
    def order(lower, upper):
        return 1.0 if lower > upper else 0.0

    @cosim.kernel
    def control(s):
        total = s.setpoint_weight * s.setpoint - s.measurement
        if s.controller in (PID_, PI):
            total += s.integral
        if s.derivative_time > 0.0 and s.controller in (PID_, PD):
            total += s.derivative_filter * (
                s.derivative_setpoint_weight * s.setpoint - s.measurement - s.filtered
            )
        s.unlimited = s.gain * total
        s.value = min(max(s.gain * total, s.lower), s.upper)

    @cosim.kernel
    def derivatives(s):
        s.integral_dot = 0.0
        s.filtered_dot = 0.0
        if s.controller in (PID_, PI):
            error = s.setpoint - s.measurement
            if s.gain != 0.0:
                error += (s.value - s.unlimited) / (s.anti_windup * s.gain)
            s.integral_dot = error / s.integral_time
        if s.derivative_time > 0.0 and s.controller in (PID_, PD):
            ahead = s.derivative_setpoint_weight * s.setpoint - s.measurement
            s.filtered_dot = (ahead - s.filtered) * s.derivative_filter / s.derivative_time

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(setpoint, measurement, derivative_setpoint_weight, filtered_next):
        filtered_next[0] = derivative_setpoint_weight * setpoint - measurement

    @cosim.witness
    def at_lower(unlimited, lower):
        return unlimited - lower

    @cosim.on(at_lower, does="discrete")
    def pass_lower(kinks, kinks_next):
        kinks_next[0] = kinks + 1

    @cosim.witness
    def at_upper(unlimited, upper):
        return unlimited - upper

    @cosim.on(at_upper, does="discrete")
    def pass_upper(kinks, kinks_next):
        kinks_next[0] = kinks + 1
