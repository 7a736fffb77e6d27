"""A jump at a given time."""

from __future__ import annotations

import math

import cosim
from cosim_measures.piecewise_constant import PiecewiseConstant
from cosim_signals.source import Source


class Step(Source, PiecewiseConstant):
    """A jump at a given time.

    Law: value = offset before `start_time`, offset + height from then on; all derivatives are 0. The jump is
    an event of the cause Scheduled, so no step of an integrator goes across it.

    Parameters
    ----------
    height : float, in the unit of the value
    unit, offset, start_time
        As for `Source`.

    References
    ----------
    Modelica Standard Library, block ``Sources.Step``.

    Examples
    --------
    >>> Step(height="400 N", start_time="20 ms").start_time
    0.02
    """

    height = cosim.parameter(unit="{value}", default=1.0, description="how far it jumps")
    jumped = cosim.discrete(dtype=int, internal=True, description="whether the jump has been")
    due = cosim.timer(description="when the jump comes")

    @cosim.kernel
    def level(offset, height, jumped, value):
        value[0] = offset + height if jumped != 0 else offset

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(t, start_time, jumped_next, due_next):
        jumped_next[0] = 1 if t >= start_time else 0
        due_next[0] = math.inf if t >= start_time else start_time

    @cosim.on(due, does="discrete")
    def jump(jumped_next, due_next):
        jumped_next[0] = 1
        due_next[0] = math.inf
