"""A run: beginning, steps up to a time, outputs, end."""

from __future__ import annotations

from cosim.integration.layout import FIXED, LARGEST
from cosim.lowering.codes import FAILED_PAST, FAILED_STILL, REACHED
from cosim.lowering.layout import (
    FINISHED,
    INITIALIZED,
    JUMPED,
    MOTION,
    NOTHING,
    REPORT,
    STAGE,
    TIME,
)
from cosim.lowering.realize import assemble, begin_integration, realize, step

SLIVER = 1e-9  # of a fixed step: less than that before a boundary is rounding, not a step
INFINITE = float("inf")


def initialize(a, t):
    """The 0th step, at `t`."""
    a.clock[TIME] = t
    a.places[STAGE] = NOTHING
    for i in range(a.agenda.shape[0]):
        a.agenda[i] = 0
    code = assemble(a)
    if code == 0:
        code = begin_integration(a)
    if code != 0:
        return code
    a.clock[JUMPED] = 0.0
    a.agenda[INITIALIZED] = 1
    return REACHED


def advance(a, t):
    """Steps until `t`."""
    if not t >= a.clock[TIME]:
        return FAILED_PAST
    while True:
        code = one_step(a, t)
        if code != 0 or a.clock[TIME] >= t:
            return code


def one_step(a, boundary):
    """Updates, integration no further than `boundary`, publishes."""
    code = realize(a, MOTION)
    if code == 0 and a.clock[JUMPED] != 0.0:
        code = assemble(a)
        a.clock[JUMPED] = 0.0
    if code != 0:
        return code
    start = a.clock[TIME]
    if start < boundary:
        code = integrate(a, INFINITE, boundary)
    if a.clock[TIME] > start:
        a.agenda[FINISHED] = 0
    return code


def integrate(a, event_time, boundary):
    """One step of the integrator toward an event or a boundary."""
    start = a.clock[TIME]
    fixed = a.settings[FIXED]
    stop = min(event_time, boundary)
    if fixed != 0.0 and a.y.shape[0] > 0 and start + fixed < boundary - SLIVER * fixed:
        stop = start + fixed if boundary < event_time else event_time
    if a.y.shape[0] == 0 and min(stop, a.settings[LARGEST]) == INFINITE:
        return FAILED_STILL
    return step(a, stop)


def evaluate(a, t):
    """Everything that follows from the present state, at `t`, outputs included."""
    if t != a.clock[TIME]:
        a.clock[TIME] = t
        a.places[STAGE] = NOTHING
    return realize(a, REPORT)


def finish(a):
    """The end of a run."""
    a.agenda[FINISHED] = 1
    return REACHED


for _function in (one_step,):
    _function.__dict__["__whole__"] = True
