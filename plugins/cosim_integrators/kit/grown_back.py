"""States that fall below their absolute tolerance and grow back by themselves: when they do is not right."""

from __future__ import annotations

STEADY = 0.7  # of the largest rate of growth: one that is less has fallen
SUDDEN = 3.0  # of it: one that is more has just begun
FAR = 10.0  # times as large as where steady growth began
WELL_ABOVE = 1000.0  # absolute tolerances: what is so large without steady growth has not grown back


def has_grown_back(sizes, m, y, y_dot, own):
    """Whether a state has come back by itself from less than its absolute tolerance, `own`.

    By itself it grows like an exponential, at a rate that hardly changes from step to step. The rate of one
    that is pushed falls, as that of a power of time does, and so does that of one that goes through 0. Of
    each state it is reported once. `y` is its value.
    """
    smallest = sizes.smallest
    growth_rates = sizes.growth_rates
    size = abs(y)
    begun = smallest[m]
    if begun < 0.0 or size == 0.0 or (begun == 0.0 and size >= own):
        return False
    rate = y_dot / y
    fastest = growth_rates[m]
    if begun > 0.0 and fastest > 0.0 and STEADY * fastest <= rate <= SUDDEN * fastest:
        growth_rates[m] = max(rate, fastest)
        if size < own or size < FAR * begun:
            return False
        smallest[m] = -1.0
        return True
    small = size < own or (begun > 0.0 and size < WELL_ABOVE * own)
    smallest[m] = size if small else 0.0
    growth_rates[m] = max(0.0, rate)
    return False
