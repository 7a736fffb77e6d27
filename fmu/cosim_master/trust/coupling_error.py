"""The error of a coupling, estimated from the run's own samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.recording.coupling_errors import FINE
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.clock_ticks import samples_at_ticks
from cosim_master.trust.even_grid import resample
from cosim_master.trust.explained_bars import (
    EXPLAINED_BENT,
    KNOWN,
    NONE,
    SAME,
    TINY,
    bars_of_answers,
    explains,
)
from cosim_master.trust.explained_run import linear_bars_of, spans_of
from cosim_master.trust.identified_coupling import IdentifiedCoupling, IdentifiedErrors, Method
from cosim_master.trust.polynomial_coupling import polynomial_answers
from cosim_master.trust.sampled_wiring import WiredPart, Wiring, part_of

Vector = NDArray[np.float64]
POINTS, FEWER_POINTS = 800, 200
"""Points of the grid on which participants are identified; fewer if there are many connections."""
MANY, TOO_MANY = 40, 300
"""Numbers of outputs and inputs from which on a coupling is large, and is too large for an estimate."""
LEAST = 12
"""The least number of samples for an estimate."""
METHODS, LARGE_METHODS = ((1, 2, 3), (1e-6, 1e-9)), ((1, 2), (1e-9,))
"""Lags and cuts that are tried; those for large couplings."""
WINDOWS = ((1, 4), (16, 64))
"""Numbers of windows that are tried; the second ones only if the first ones miss the run."""
ROWS_FOR_ONE = 6
"""The least number of points of a window for each lag."""
GOOD_FIT = 1e-4
"""If the misfit is below this part of an output's range, no more windows are needed."""
AS_GOOD, SMALL = 3.0, 0.1
"""Equations are used if their misfit is at most this many times the best one, or at most this part of the
error (`explains`)."""
MOST_APART = 4.0
"""Larger multiples of the least answer are not used: equations may have growing solutions that the run does
not show."""
SAFETY = 2.5
"""Bar over estimate, calibrated by `benchmarks/masters/error_bars.py`."""
TRUSTED, MOST_MISSED = 0.02, 4.0
"""If the misfit is below this part of the range, it adds at most so many times the answer to the bar. If not,
a larger misfit makes the error unknown."""
UNKNOWN_FROM = 0.5
"""Equations whose misfit is above this part of the range, and larger bars, are not used."""
MOST_BENT = 0.3
"""Errors above this part of the range do not follow equations that are linear about the run."""


class Estimate(NamedTuple):
    """Bars for the largest errors of outputs.

    Attributes
    ----------
    bars : ndarray, shape (outputs,)
        95 of 100 errors are below their bars.
    is_known : bool
        False if the run does not show how the participants respond to inputs; the bars are then as large as
        the ranges of the outputs.
    is_explained : bool
        True if equations explain the whole run, so that no second run is needed.
    """

    bars: Vector
    is_known: bool
    is_explained: bool = False


def explained_errors(samples: Samples, wiring: Wiring, jumping: Sequence[int] = ()) -> Estimate | None:
    """Errors from linear equations that explain the whole run; None if participants hide their states.

    Parameters
    ----------
    samples : Samples
    wiring : Wiring
    jumping : sequence of int
        Places of discrete outputs.

    Returns
    -------
    Estimate or None
        None where no linear equations explain the run.
    """
    if not _is_sufficient(samples, wiring) or set(wiring.driven) & set(jumping):
        return None
    knowledge, bars = linear_bars_of(samples, wiring)
    return None if knowledge == NONE else Estimate(bars, knowledge == KNOWN, knowledge == KNOWN)


def estimated_errors(
    samples: Samples, wiring: Wiring, jumping: Sequence[int] = (), count: int | None = None
) -> Estimate | None:
    """Bars for the largest error of each output that the coupling has made: 95 of 100 errors are below them.

    If the outputs of participants include their states, and all others are polynomials of these, the error
    follows from polynomials (`polynomial_answers`). Otherwise difference equations are fitted to the first
    outputs (`IdentifiedCoupling`); further sampled states, such as energies, would spoil the fit.

    Parameters
    ----------
    samples : Samples
    wiring : Wiring
    jumping : sequence of int
        Places of discrete outputs.
    count : int, optional
        The number of outputs whose errors are estimated; states follow them. By default all.

    Returns
    -------
    Estimate or None
        None with too few samples, or too many connections.
    """
    if not _is_sufficient(samples, wiring):
        return None
    bent = None if set(wiring.driven) & set(jumping) else _bent_errors(samples, wiring)
    if bent is not None:
        return bent
    samples = samples._replace(outputs=samples.outputs[:, :count])
    outputs = range(samples.outputs.shape[1])
    parts = [
        part_of(wiring.direct, [place for place in part.outputs if place in outputs], part.inputs)
        for part in wiring.parts
    ]
    return _identified_errors(
        samples, wiring.sources, parts, [place for place in jumping if place in outputs]
    )


def _identified_errors(
    samples: Samples, sources: NDArray[np.intp], parts: Sequence[WiredPart], jumping: Sequence[int]
) -> Estimate:
    """Errors from difference equations: at ticks alone if participants are clocked, else over the run."""
    clocked = [part for part in parts if part.inputs and set(part.outputs) <= set(jumping)]
    places = np.array([place for part in clocked for place in part.outputs], dtype=np.intp)
    sampled = np.array([place for part in clocked for place in part.inputs], dtype=np.intp)
    # the other inputs: their participants may err between ticks, and forget it by the next tick
    unclocked = ~np.isin(sources, places) & ~np.isin(np.arange(sources.size), sampled)
    least = samples.times.size - 2 if samples.defects[:, unclocked].any() else LEAST
    fed = [place for part in parts if np.isin(sources[part.inputs], places).any() for place in part.outputs]
    fed_by_clocked = np.setdiff1d(fed, places)
    estimates = [
        _bars(course, sources, parts, places.tolist(), course.times.size, lags)
        for course, lags in samples_at_ticks(samples, sources, places, sampled, fed_by_clocked)
        if course.times.size > max(least, LEAST)
    ]
    if not estimates:
        size = samples.outputs.shape[1] + sources.size
        estimates = [_bars(samples, sources, parts, (), FEWER_POINTS if size > MANY else POINTS)]
    return Estimate(
        np.max([bars for bars, _ in estimates], axis=0), all(is_known for _, is_known in estimates)
    )


def _is_sufficient(samples: Samples, wiring: Wiring) -> bool:
    """Whether there are enough samples, and not too many connections."""
    size = samples.outputs.shape[1] + wiring.sources.size
    if samples.times.size <= LEAST or size > TOO_MANY or not wiring.sources.size:
        return False
    return bool(np.all(np.isfinite(samples.outputs)))


def _bent_errors(samples: Samples, wiring: Wiring) -> Estimate | None:
    """Errors from polynomials that explain the run; None if there are none, or if a second run is better."""
    spans = spans_of(samples.outputs)
    answers = polynomial_answers(samples, wiring, spans)
    if not answers and wiring.surely_direct != wiring.direct:
        answers = polynomial_answers(samples, wiring._replace(direct=wiring.surely_direct), spans)
    if not answers:
        return None
    bars = np.zeros(3 * spans.size)
    knowledge = bars_of_answers(np.ravel(answers), spans, EXPLAINED_BENT, bars)
    largest = np.max([answer.errors for answer in answers], axis=0)
    # the error follows equations that are linear about the run
    is_small = bool((largest <= MOST_BENT * np.maximum(spans, TINY)).all())
    return Estimate(bars[: spans.size], True) if knowledge == KNOWN and is_small else None


def _ranges(samples: Samples) -> Vector:
    """The ranges of the outputs; the size of constant ones."""
    ranges: Vector = np.maximum(spans_of(samples.outputs), TINY)
    return ranges


def _bars(
    samples: Samples,
    sources: NDArray[np.intp],
    parts: Sequence[WiredPart],
    jumping: Sequence[int],
    points: int,
    lags: Vector | float = 0.0,
) -> tuple[Vector, bool]:
    """Error bars of the outputs, on a grid of at most `points` intervals; whether they are known."""
    ranges = _ranges(samples)
    answers = _answers(samples, sources, parts, jumping, points)
    misses = np.array([_relative(answer, ranges) for answer in answers])
    errors = np.array([np.abs(answer.errors).max(axis=0) for answer in answers])
    explaining = [explains(e, a.misfit, ranges, SMALL) for a, e in zip(answers, errors, strict=True)]
    counts = ((misses <= AS_GOOD * misses.min()) | explaining) & np.isfinite(errors).all(axis=1)
    if not counts.any():
        return SAFETY * ranges, False
    lower, middle, upper = np.quantile(errors[counts], (0.25, 0.5, 0.75), axis=0, method="nearest")
    differs = (upper > SAME * lower) & (SAFETY * upper > FINE * ranges)
    least = errors[counts].min(axis=0)
    middle = upper if differs.any() else np.minimum(middle, MOST_APART * least)
    missed = np.minimum(answers[int(np.argmin(misses))].misfit, ranges)
    if misses.min() < TRUSTED:
        missed = np.minimum(missed, MOST_MISSED * middle)
    bars = SAFETY * np.maximum(middle + missed, lags)
    with np.errstate(all="ignore"):
        is_small = max(float((bars / ranges).max()), misses.min()) < UNKNOWN_FROM
    # a bar that comes from the misfit would not shrink with the step
    is_explained = (missed <= MOST_MISSED * middle) | (bars <= FINE * ranges)
    smooth = np.setdiff1d(np.arange(differs.size), jumping)  # outputs that only jump do not decide
    is_known = is_small and is_explained.all() and not differs[smooth].any()
    return np.minimum(bars, SAFETY * ranges), bool(is_known)


def _answers(
    samples: Samples,
    sources: NDArray[np.intp],
    parts: Sequence[WiredPart],
    jumping: Sequence[int],
    points: int,
) -> list[IdentifiedErrors]:
    """Answers of difference equations with several lags and windows; more windows if the first ones miss."""
    is_large = samples.outputs.shape[1] + sources.size > MANY
    course = resample(samples, sources, points)
    coupling = IdentifiedCoupling(course, sources, parts, jumping)
    ranges = _ranges(samples)
    lags, cuts = LARGE_METHODS if is_large else METHODS
    answers: list[IdentifiedErrors] = []
    for windows in WINDOWS[:1] if is_large else WINDOWS:
        methods = [
            Method(lag_count, cut, window_count)
            for window_count in windows
            for lag_count in lags
            for cut in cuts
            if window_count == 1 or len(course.inputs) >= ROWS_FOR_ONE * lag_count * window_count
        ]
        with np.errstate(all="ignore"):
            answers += [coupling.answer(method) for method in methods]
        if min(_relative(answer, ranges) for answer in answers) < GOOD_FIT:
            break
    return answers


def _relative(answer: IdentifiedErrors, ranges: Vector) -> float:
    """The worst misfit over the range of its output."""
    with np.errstate(all="ignore"):
        misfit = float(np.max(answer.misfit / ranges, initial=0.0))
    return misfit if np.isfinite(misfit) else np.inf
