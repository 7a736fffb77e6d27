"""Detects states that fall below their absolute tolerance and grow back by themselves.

Below the tolerance a state has no correct digits, so the time at which such a state returns is not accurate:
the user is told.
"""

from __future__ import annotations

STEADY = 0.7  # times the largest growth rate: below that the rate has fallen, and growth is not steady
SUDDEN = 3.0  # times the largest growth rate: above that a new growth begins at the present value
FAR = 10.0  # times the value at which steady growth began: from there on the state has grown back
WELL_ABOVE = 1000.0  # absolute tolerances: a state that got there without steady growth was pushed

REPORTED, NOT_SMALL = -1.0, 0.0  # in `StateSizes.smallest`, in place of the value from which a state grows


def has_grown_back(sizes, m, y, y_dot, tolerance):
    """Whether state `m` has grown back from below its absolute tolerance by itself; true once for each state.

    A state that grows by itself grows exponentially: its rate y' / y hardly changes from step to step. If an
    input pushes it, it grows like a power of time and its rate falls; if it passes 0, its rate falls, too.

    `y` is the value of the state, `y_dot` its derivative. `sizes` stores, from call to call, the value from
    which it grows steadily (`smallest`) and its largest growth rate since then (`growth_rates`, 1/s).
    """
    smallest = sizes.smallest
    growth_rates = sizes.growth_rates
    size = abs(y)
    began_at = smallest[m]
    if began_at == REPORTED or size == 0.0 or (began_at == NOT_SMALL and size >= tolerance):
        return False
    rate = y_dot / y
    fastest = growth_rates[m]
    if began_at > 0.0 and fastest > 0.0 and STEADY * fastest <= rate <= SUDDEN * fastest:
        growth_rates[m] = max(rate, fastest)
        if size < tolerance or size < FAR * began_at:
            return False
        smallest[m] = REPORTED
        return True
    # it does not grow steadily: if it is small, steady growth may begin here
    is_small = size < tolerance or (began_at > 0.0 and size < WELL_ABOVE * tolerance)
    smallest[m] = size if is_small else NOT_SMALL
    growth_rates[m] = max(0.0, rate)
    return False
