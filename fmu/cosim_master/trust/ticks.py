"""When participants with discrete outputs look at their inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.sampled_wiring import Wiring

Vector = NDArray[np.float64]
Places = NDArray[np.intp]
MOST_TICKS = 2000
"""More are not worked off, and a coarser grid would miss them."""
MOST_PARTS = 20
"""A clock need not change an output at each tick: so many may lie between the closest changes."""
BENT = 0.1
"""Of the largest change between ticks: who goes so far off a line there forgets until the next one."""
SAME = 1e-6
"""Of a period: times that are no further apart are one."""
NOTHING: Places = np.zeros(0, dtype=np.intp)


def late_by_an_exchange(samples: Samples, wiring: Wiring, jumping: Sequence[int]) -> Vector:
    """What outputs do at most in an exchange, of those that jumps reach which no clock makes.

    Inputs change at exchanges, so that jumps that follow from them are late by up to one; a second run may
    be late by as much, and does not show it.
    """
    found = np.zeros(samples.outputs.shape[1])
    changes = np.abs(np.diff(samples.outputs, axis=0))
    reached = {
        place
        for place in set(jumping) & set(wiring.driven)
        if changes[:, place].any() and not _grid(samples.times, np.flatnonzero(changes[:, place]) + 1).size
    }
    before = -1
    while len(reached) > before:
        before = len(reached)
        for mine, given, _ in wiring.parts:
            if reached & set(wiring.sources[given].tolist()):
                reached |= set(mine)
    for place in reached:
        found[place] = changes[:, place].max()
    return found


def at_ticks(
    samples: Samples, sources: Places, jumping: Places, sampled: Places, fed: Places = NOTHING
) -> list[tuple[Samples, Vector]]:
    """Only the points at which discrete outputs change: in between nothing reads what their inputs are given.

    An output that shows a change at the end of an exchange may have made it there, with the value that its
    input had last, or where the exchange began, unseen until its end: which one, the master is not told. A
    clock that ticks at the start of the run decides between them, unless it ticks at each exchange.

    Parameters
    ----------
    samples : Samples
    sources : ndarray of int, shape (inputs,)
        The output that each input stands for.
    jumping, sampled : ndarray of int
        Places of outputs and inputs of participants whose outputs are all discrete.
    fed : ndarray of int
        Places of other outputs, of participants that they feed.

    Returns
    -------
    list of (Samples, ndarray of shape (outputs,))
        One or two courses that the run may have been, and how far outputs may be behind between its points.
        None where exchanges do not meet the ticks of one clock, or too many of them.
    """
    changes = np.flatnonzero(np.diff(samples.outputs[:, jumping], axis=0).any(axis=1)) + 1
    if changes.size < 2:
        return []
    late, early = _grid(samples.times, changes), _grid(samples.times[:-1], changes - 1)
    begins = [grid.size > 0 and grid[0] == 0 for grid in (late, early)]
    found = []
    if late.size and (begins[0] or not begins[1]):
        found.append((_at(samples, late), np.zeros(samples.outputs.shape[1])))
    if early.size and (begins[1] or not begins[0]):
        course = _at(_earlier(samples, sources, jumping, sampled), early)
        found.append((course, _behind(samples, course, fed)))
    return found


def _at(samples: Samples, points: Places) -> Samples:
    return Samples(*(column[points] for column in samples))


def _grid(times: Vector, ticks: Places) -> Places:
    """Where the clock ticks among `times` that makes `ticks`; nothing where there is none of one period."""
    gaps = np.diff(times[ticks])
    for part in range(1, MOST_PARTS + 1):
        counts = part * gaps / gaps.min()
        if np.abs(counts - np.round(counts)).max() < SAME * counts.max():
            break
    else:
        return NOTHING
    period = gaps.min() / part
    before, behind = times[ticks[0]] - times[0], times[-1] - times[ticks[0]]
    first, last = -int(before / period + SAME), int(behind / period + SAME)
    if last - first >= MOST_TICKS:
        return NOTHING
    wanted = times[ticks[0]] + period * np.arange(first, last + 1)
    points = np.minimum(np.searchsorted(times, wanted - SAME * period), times.size - 1)
    met = np.abs(times[points] - wanted) < 10.0 * SAME * period
    return points if met.all() else NOTHING


def _earlier(samples: Samples, sources: Places, jumping: Places, sampled: Places) -> Samples:
    """The course where discrete outputs change at the beginning of the exchanges that show it."""
    outputs, ends, defects = (
        column[:-1].copy() for column in (samples.outputs, samples.ends, samples.defects)
    )
    outputs[:, jumping] = samples.outputs[1:, jumping]
    ends[:, sampled] = samples.ends[1:, sampled]
    fed = np.isin(sources, jumping)
    missed = np.diff(samples.outputs[:, sources[fed]], axis=0) * np.diff(samples.times)[:, None]
    defects[1:, fed] -= np.cumsum(missed[:-1], axis=0)
    kept = samples._replace(outputs=outputs, ends=ends, defects=defects)
    return Samples(*(column[:-1] if column.shape[0] > outputs.shape[0] else column for column in kept))


def _behind(samples: Samples, course: Samples, fed: Places) -> Vector:
    """What outputs do in an exchange, where they have forgotten by the next tick that a change came late."""
    found = np.zeros(samples.outputs.shape[1])
    for k in fed.tolist():
        y, seen = samples.outputs[:, k], course.outputs[:, k]
        inside = samples.times <= course.times[-1]
        off = np.abs(y - np.interp(samples.times, course.times, seen))[inside].max()
        if off > BENT * np.abs(np.diff(seen)).max(initial=0.0):
            found[k] = np.abs(np.diff(y)).max()
    return found
