"""The step of a system in which there is nothing to integrate."""

from __future__ import annotations

from cosim.contracts.method_layout import (
    ACCEPTED_END,
    BLOCK_FAILED,
    BY_LIMIT,
    BY_TARGET,
    DONE,
    END,
    FAILED_BLOCK,
    FAILED_TIME,
    LARGEST,
    REASON,
    START,
    STEPS,
)
from cosim.walker import walk


def whole_way(
    table,
    ints,
    first,
    last,
    t,
    y,
    p,
    d,
    k,
    h,
    c,
    coefficients,
    settings,
    memory,
    work,
    slots,
    t_stop,
    limit,
):
    """One step goes all the way, and one walk is enough; see `cosim.contracts.method_layout`."""
    end = min(t_stop, t + min(limit, settings[LARGEST]))
    status = walk(table, ints, first, last, end, y, p, d, k, h, c)
    if status != 0:
        work[FAILED_BLOCK] = float(status - 1)
        work[FAILED_TIME] = end
        walk(table, ints, first, last, t, y, p, d, k, h, c)
        return BLOCK_FAILED
    work[START] = t
    work[END] = end
    work[ACCEPTED_END] = end
    work[REASON] = float(BY_TARGET if end == t_stop else BY_LIMIT)
    work[STEPS] += 1.0
    return DONE
