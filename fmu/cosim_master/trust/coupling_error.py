"""What a run's own figures say of the error that its coupling made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosim_master.results.coupling_report import FINE
from cosim_master.samples.coupling_samples import Samples
from cosim_master.trust.identified_coupling import Answer, IdentifiedCoupling, Method
from cosim_master.trust.resampled import resampled
from cosim_master.trust.ticks import at_ticks

Vector = NDArray[np.float64]
POINTS, FEWER_POINTS = 400, 200
"""Of the grid on which participants are identified; fewer where there are many connections."""
MANY, TOO_MANY = 40, 300
"""Values of the interface and inputs together."""
LEAST = 12
"""Samples; with fewer nothing can be said."""
ROWS_FOR_ONE = 6
"""Points of a window for each lag."""
GOOD_FIT = 1e-4
"""Of the range of an output: participants whose equations miss the run by no more do not change over it."""
AS_GOOD, SMALL = 3.0, 0.1
"""Equations count that miss the run by at most so many times the best, or this part of the error."""
MOST_APART = 4.0
"""Of the least answer: equations may have solutions that grow and that the run does not show."""
SAFETY = 2.5
"""Bar over estimate, calibrated: `benchmarks/masters/error_bars.py`."""
TRUSTED, MOST_MISSED = 0.02, 4.0
"""Where equations miss the run by less (of the range), the misfit adds at most so often their answer; where
they miss it by more, a misfit beyond that says nothing."""
UNKNOWN_FROM = 0.5
"""Of the range: equations that miss the run by more say nothing, and neither do larger bars."""


def estimated_errors(
    samples: Samples,
    sources: NDArray[np.intp],
    parts: Sequence[tuple[list[int], list[int], list[int]]],
    jumping: Sequence[int] = (),
) -> tuple[Vector, bool] | None:
    """The largest error of each output that the coupling made in a run: a bar that 95 of 100 keep.

    Parameters
    ----------
    samples : Samples
    sources : ndarray of int, shape (inputs,)
        The output that each input stands for.
    parts : sequence of (outputs, inputs, direct inputs)
        Places of those of each participant, as for `IdentifiedCoupling`.
    jumping : sequence of int
        Places of discrete outputs.

    Returns
    -------
    bars : ndarray, shape (outputs,)
    is_known : bool
        False where the participants' answers could not be found out from the run; the bars then have the
        size of the outputs' ranges.
    None
        With too few samples, or too many connections.
    """
    size = samples.outputs.shape[1] + sources.size
    if samples.times.size <= LEAST or size > TOO_MANY or not sources.size:
        return None
    if not np.all(np.isfinite(samples.outputs)):
        return None
    clocked = [(mine, given) for mine, given, _ in parts if given and set(mine) <= set(jumping)]
    places = np.array([place for mine, _ in clocked for place in mine], dtype=np.intp)
    sampled = np.array([place for _, given in clocked for place in given], dtype=np.intp)
    # between ticks others may err, and have forgotten it at the next one
    others = ~np.isin(sources, places) & ~np.isin(np.arange(sources.size), sampled)
    least = samples.times.size - 2 if samples.defects[:, others].any() else LEAST
    fed = [k for mine, given, _ in parts if np.isin(sources[given], places).any() for k in mine]
    found = [
        _bars(course, sources, parts, places.tolist(), course.times.size, behind)
        for course, behind in at_ticks(samples, sources, places, sampled, np.setdiff1d(fed, places))
        if course.times.size > max(least, LEAST)
    ] or [_bars(samples, sources, parts, (), FEWER_POINTS if size > MANY else POINTS)]
    return np.max([bars for bars, _ in found], axis=0), all(is_known for _, is_known in found)


def _bars(
    samples: Samples,
    sources: NDArray[np.intp],
    parts: Sequence[tuple[list[int], list[int], list[int]]],
    jumping: Sequence[int],
    points: int,
    behind: Vector | float = 0.0,
) -> tuple[Vector, bool]:
    """As `estimated_errors`, on a grid of at most so many intervals; inside outputs may be so far behind."""
    many = samples.outputs.shape[1] + sources.size > MANY
    seen = resampled(samples, sources, points)
    coupling = IdentifiedCoupling(seen, sources, parts, jumping)
    ranges, sizes = np.ptp(samples.outputs, axis=0), np.abs(samples.outputs).max(axis=0)
    ranges = np.maximum(np.where(ranges > 1e-12 * sizes, ranges, sizes), 1e-300)
    lags, cuts = ((1, 2), (1e-9,)) if many else ((1, 2, 3), (1e-6, 1e-9))
    found: list[Answer] = []
    for windows in ((1, 4),) if many else ((1, 4), (16, 64)):
        methods = [
            Method(n, cut, w)
            for w in windows
            for n in lags
            for cut in cuts
            if w == 1 or len(seen.inputs) >= ROWS_FOR_ONE * n * w
        ]
        with np.errstate(all="ignore"):
            found += [coupling.answer(method) for method in methods]
        if min(_relative(answer, ranges) for answer in found) < GOOD_FIT:
            break
    misses = np.array([_relative(answer, ranges) for answer in found])
    best = found[int(np.argmin(misses))]
    errors = np.array([np.abs(answer.errors).max(axis=0) for answer in found])
    with np.errstate(all="ignore"):
        parts_of_error = np.array(
            [np.max(a.misfit / np.maximum(e, 1e-30 * ranges)) for a, e in zip(found, errors, strict=True)]
        )
    chosen = ((misses <= AS_GOOD * misses.min()) | (parts_of_error < SMALL)) & np.isfinite(errors).all(axis=1)
    if not chosen.any():
        return SAFETY * ranges, False
    middle = np.quantile(errors[chosen], 0.5, axis=0, method="nearest")
    middle = np.minimum(middle, MOST_APART * errors[chosen].min(axis=0))
    missed = np.minimum(best.misfit, ranges)
    if misses.min() < TRUSTED:
        missed = np.minimum(missed, MOST_MISSED * middle)
    bars = SAFETY * np.maximum(middle + missed, behind)
    with np.errstate(all="ignore"):
        is_small = max(float((bars / ranges).max()), misses.min()) < UNKNOWN_FROM
    # a bar that the misfit makes would stay as it is with a smaller step
    is_explained = (missed <= MOST_MISSED * middle) | (bars <= FINE * ranges)
    return np.minimum(bars, SAFETY * ranges), bool(is_small and is_explained.all())


def _relative(answer: Answer, ranges: Vector) -> float:
    """The worst misfit over the range of its output."""
    with np.errstate(all="ignore"):
        found = float(np.max(answer.misfit / ranges, initial=0.0))
    return found if np.isfinite(found) else np.inf
