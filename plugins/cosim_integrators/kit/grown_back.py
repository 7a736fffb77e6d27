"""States that fall below their absolute tolerance and grow back by themselves: when they do is not right."""

from __future__ import annotations

STEADY = 0.7  # of the largest rate of growth: a rate below that has fallen, growth is not steady
SUDDEN = 3.0  # times the largest rate: a rate above that is new growth, from where the state is now
FAR = 10.0  # times where steady growth began: so far it has to come to count as grown back
WELL_ABOVE = 1000.0  # absolute tolerances: what is so large without steady growth has not grown back


REPORTED, NOT_SMALL = -1.0, 0.0  # in `StateSizes.smallest`, in place of the value from which a state grows


def has_grown_back(sizes, m, y, y_dot, tolerance):
    """Whether state `m` has come back by itself from less than its absolute tolerance; true once for each.

    By itself it grows like an exponential, at a rate that hardly changes from step to step. The rate of one
    that is pushed falls, as that of a power of time does, and so does that of one that goes through 0.

    `y` is its value. `sizes` remembers for it, from call to call, the value from which it grows steadily
    (`smallest`) and its largest rate of growth since (`growth_rates`, 1/s).
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
