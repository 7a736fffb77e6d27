"""The ticks of a clock among the exchanges, as far as changes of discrete outputs show them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.sampled_wiring import Wiring

Vector = NDArray[np.float64]
Places = NDArray[np.intp]
MOST_TICKS = 2000
"""The largest number of ticks: more take too much time."""
MOST_PARTS = 20
"""The largest number of periods between the closest two changes, since not every tick changes an output."""
LEAST_CHANGES = 3
"""Fewer changes show no clock, since any two changes have a period."""
TICKS_PER_CHANGE = 2
"""The largest number of ticks for each change: otherwise the exchanges themselves would be a clock."""
SAME_TIME = 1e-6
"""Times that differ by a smaller part of a period are equal."""
FORGETS = 0.1
"""An output forgets a change before the next tick if it departs from the line between two ticks by more than
this part of the largest change between ticks."""
NOTHING: Places = np.zeros(0, dtype=np.intp)


def jumps_without_clock(samples: Samples, wiring: Wiring, jumping: Sequence[int]) -> Vector:
    """The largest change of each output in an exchange if it depends on jumps without a clock, else 0.

    Since inputs change at exchanges, such an output may be late by up to one exchange. So may a second run,
    which therefore does not show this error.
    """
    largest = np.zeros(samples.outputs.shape[1])
    changes = np.abs(np.diff(samples.outputs, axis=0))
    reached = {
        place
        for place in set(jumping) & set(wiring.driven)
        if changes[:, place].any() and not _is_clocked(samples.times, np.flatnonzero(changes[:, place]) + 1)
    }
    count_before = -1
    while len(reached) > count_before:  # until no further participant is fed by a reached output
        count_before = len(reached)
        for part in wiring.parts:
            if reached & set(wiring.sources[part.inputs].tolist()):
                reached |= set(part.outputs)
    for place in reached:
        largest[place] = changes[:, place].max()
    return largest


def _is_clocked(times: Vector, changes: Places) -> bool:
    """Whether a clock has made these changes; the changes of a switch seldom have a period."""
    ticks = ticks_among(times, changes)
    between = int(np.count_nonzero((ticks >= changes[0]) & (ticks <= changes[-1])))
    return changes.size >= LEAST_CHANGES and 0 < between <= TICKS_PER_CHANGE * changes.size


def samples_at_ticks(
    samples: Samples, sources: Places, jumping: Places, sampled: Places, fed: Places = NOTHING
) -> list[tuple[Samples, Vector]]:
    """The samples at the ticks of a clock: between ticks no discrete output depends on its inputs.

    If an output shows a change at the end of an exchange, there are two cases: it changed there, from the
    last value of its input, or it changed at the start of the exchange, and shows it late. The master cannot
    distinguish them, unless the clock ticks at the start of the run and not at each exchange.

    Parameters
    ----------
    samples : Samples
    sources : ndarray of int, shape (inputs,)
        The output that feeds each input.
    jumping, sampled : ndarray of int
        Places of outputs and inputs of participants whose outputs are all discrete.
    fed : ndarray of int
        Places of outputs of other participants that these feed.

    Returns
    -------
    list of (Samples, ndarray of shape (outputs,))
        For each possible case the samples at the ticks, and the errors by lags between ticks. Empty if the
        changes have no common period that exchanges meet, or if there are too many ticks.
    """
    changes = np.flatnonzero(np.diff(samples.outputs[:, jumping], axis=0).any(axis=1)) + 1
    at_end = ticks_among(samples.times, changes)
    at_start = ticks_among(samples.times[:-1], changes - 1)
    end_ticks_first, start_ticks_first = (ticks.size > 0 and ticks[0] == 0 for ticks in (at_end, at_start))
    cases = []
    if at_end.size and (end_ticks_first or not start_ticks_first):
        no_lag = np.zeros(samples.outputs.shape[1])
        cases.append((_select(samples, at_end), no_lag))
    if at_start.size and (start_ticks_first or not end_ticks_first):
        at_ticks = _select(_shift_changes(samples, sources, jumping, sampled), at_start)
        cases.append((at_ticks, _lag_between_ticks(samples, at_ticks, fed)))
    return cases


def _select(samples: Samples, places: Places) -> Samples:
    """The samples at these places."""
    return Samples(*(column[places] for column in samples))


def ticks_among(times: Vector, changes: Places) -> Places:
    """Places among `times` of all ticks of the clock that made these changes; empty if there is no clock."""
    if changes.size < 2:  # one change shows no period
        return NOTHING
    gaps = np.diff(times[changes])
    for part in range(1, MOST_PARTS + 1):
        periods = part * gaps / gaps.min()
        if np.abs(periods - np.round(periods)).max() < SAME_TIME * periods.max():
            break
    else:
        return NOTHING
    period = gaps.min() / part
    before, after = times[changes[0]] - times[0], times[-1] - times[changes[0]]
    first, last = -int(before / period + SAME_TIME), int(after / period + SAME_TIME)
    if last - first >= MOST_TICKS:
        return NOTHING
    expected = times[changes[0]] + period * np.arange(first, last + 1)
    places = np.minimum(np.searchsorted(times, expected - SAME_TIME * period), times.size - 1)
    is_met = np.abs(times[places] - expected) < 10.0 * SAME_TIME * period
    return places if is_met.all() else NOTHING


def _shift_changes(samples: Samples, sources: Places, jumping: Places, sampled: Places) -> Samples:
    """The samples of a run with all discrete changes at the starts of the exchanges that show them."""
    outputs, ends, defects = (
        column[:-1].copy() for column in (samples.outputs, samples.ends, samples.defects)
    )
    outputs[:, jumping] = samples.outputs[1:, jumping]
    ends[:, sampled] = samples.ends[1:, sampled]
    fed = np.isin(sources, jumping)
    # an earlier change of the output makes the defect of the inputs that it feeds smaller by that change
    added = np.diff(samples.outputs[:, sources[fed]], axis=0) * np.diff(samples.times)[:, None]
    defects[1:, fed] -= np.cumsum(added[:-1], axis=0)
    shifted = samples._replace(outputs=outputs, ends=ends, defects=defects)
    return Samples(*(column[:-1] if column.shape[0] > outputs.shape[0] else column for column in shifted))


def _lag_between_ticks(samples: Samples, at_ticks: Samples, fed: Places) -> Vector:
    """The largest change of each output in an exchange, if it forgets a late change before the next tick."""
    largest = np.zeros(samples.outputs.shape[1])
    is_inside = samples.times <= at_ticks.times[-1]
    for place in fed.tolist():
        output, output_at_ticks = samples.outputs[:, place], at_ticks.outputs[:, place]
        line = np.interp(samples.times, at_ticks.times, output_at_ticks)
        farthest = np.abs(output - line)[is_inside].max()
        if farthest > FORGETS * np.abs(np.diff(output_at_ticks)).max(initial=0.0):
            largest[place] = np.abs(np.diff(output)).max()
    return largest
