"""States that fall below their absolute tolerance and grow back by themselves: when they do is not right."""

from __future__ import annotations

from cosim_integrators.kit.size_layout import BACK_FROM, RATE

STEADY = 0.7  # of the largest rate of growth: one that is less has fallen
SUDDEN = 3.0  # of it: one that is more has just begun
FAR = 10.0  # times as large as where steady growth began
WELL_ABOVE = 1000.0  # absolute tolerances: what is so large without steady growth has not grown back


def has_grown_back(m, y, c, own, sizes):
    """Whether a state has come back by itself from less than its absolute tolerance, `own`.

    By itself it grows like an exponential, at a rate that hardly changes from step to step. The rate of one
    that is pushed falls, as that of a power of time does, and so does that of one that goes through 0. Of
    each state it is told once.
    """
    n = y.shape[0]
    size = abs(y[m])
    begun = sizes[BACK_FROM * n + m]
    if begun < 0.0 or size == 0.0 or (begun == 0.0 and size >= own):
        return False
    rate = c[m] / y[m]
    fastest = sizes[RATE * n + m]
    if begun > 0.0 and fastest > 0.0 and STEADY * fastest <= rate <= SUDDEN * fastest:
        sizes[RATE * n + m] = max(rate, fastest)
        if size < own or size < FAR * begun:
            return False
        sizes[BACK_FROM * n + m] = -1.0
        return True
    small = size < own or (begun > 0.0 and size < WELL_ABOVE * own)
    sizes[BACK_FROM * n + m] = size if small else 0.0
    sizes[RATE * n + m] = max(0.0, rate)
    return False
