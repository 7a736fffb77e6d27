"""Many steps in one call from Python."""

from __future__ import annotations

from cosim.kit import DONE, StepWork, call_step, place_in

ADVANCE_SIGNATURE = "iiTIiifFFFIFFFFFFIff>i"
AT_TIME, AT_WORK, AT_STOP = 4, 14, 16
"""Where in the arguments of a step the time stands, ``work``, and ``t_stop``."""
AT_END = place_in(StepWork, "end")


def advance(address, most, *arguments):
    """Take steps of any method, by the address of its step, until ``t_stop`` or so many; the last code."""
    t = arguments[AT_TIME]
    code = DONE
    for _ in range(most):
        code = call_step(address, arguments[:AT_TIME] + (t,) + arguments[AT_TIME + 1 :])
        if code != DONE:
            break
        t = arguments[AT_WORK][AT_END]
        if t >= arguments[AT_STOP]:
            break
    return code
