"""The kernel functions of the coupling error, called with samples in arrays of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import compile_function, head_of
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.exact_inputs import PossiblyExact, are_exact
from cosim_master.trust.explained_bars import bars_at, bars_room
from cosim_master.trust.run_in_intervals import POWERS, course_at, course_room, interval_count, put_spans
from cosim_master.trust.sampled_wiring import Wiring
from cosim_master.trust.wired_arrays import wired_arrays

Vector = NDArray[np.float64]
ENTRIES: dict[Callable[..., int], str] = {
    are_exact: "FiiIFI>i",
    bars_at: "Fiiii>i",
    course_at: "FiiiFF>i",
    put_spans: "FiF>i",
}
"""The functions that are called here, with their signatures."""


class IntervalRun(NamedTuple):
    """A run in intervals: times, outputs, and the lines along which inputs ran.

    Attributes
    ----------
    times : ndarray, shape (intervals + 1,), s
    outputs : ndarray, shape (intervals + 1, outputs)
    means, slopes : ndarray, shape (intervals, inputs)
        Of each input over each interval.
    ends : ndarray, shape (intervals + 1, inputs)
        Inputs at the times.
    pieces : ndarray, shape (4, intervals, free outputs)
        Coefficients of outputs that depend on nothing, by powers of the time in each interval.
    """

    times: Vector
    outputs: Vector
    means: Vector
    slopes: Vector
    ends: Vector
    pieces: Vector


def linear_bars_of(samples: Samples, wiring: Wiring) -> tuple[int, Vector]:
    """Whether linear equations explain the run (`explained_bars.NONE` …), and the bars."""
    table, wired = _sample_rows(samples), wired_arrays(wiring, samples.outputs.shape[1])
    room = np.zeros(bars_room(len(table), samples.outputs.shape[1], wiring.sources.size))
    head = head_of(wired)
    knowledge = _call(bars_at, table.ravel(), table.shape[1], _address_of(head), _address_of(room), room.size)
    return knowledge, wired.bars[: wired.spans.size]


def inputs_are_exact(samples: Samples, wiring: Wiring, candidates: PossiblyExact) -> bool:
    """Whether no input of the run ever differed from its source."""
    table, sources = _sample_rows(samples), np.array(wiring.sources, dtype=np.int64)
    return bool(
        _call(are_exact, table.ravel(), table.shape[1], samples.outputs.shape[1], sources, *candidates)
    )


def run_in_intervals_of(samples: Samples, wiring: Wiring, largest_count: int) -> IntervalRun:
    """Means and first moments of the inputs over at most this number of intervals."""
    table, n, m = _sample_rows(samples), samples.outputs.shape[1], wiring.sources.size
    count = interval_count(len(table), n, m, largest_count)
    wired, room = wired_arrays(wiring, n), np.zeros(course_room(count, n, m))
    free = n - len(wiring.driven)
    pieces, head = np.zeros(POWERS * count * free), head_of(wired)
    _call(course_at, table.ravel(), table.shape[1], _address_of(head), largest_count, room, pieces)
    shapes = (count + 1,), (count + 1, n), (count, m), (count, m), (count + 1, m)
    parts = np.split(room, np.cumsum([np.prod(shape) for shape in shapes])[:-1])
    times, outputs, means, slopes, ends = (
        part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)
    )
    return IntervalRun(times, outputs, means, slopes, ends, pieces.reshape(POWERS, count, free))


def spans_of(values: Vector) -> Vector:
    """The range of each column; the largest size in it where it is constant but for rounding."""
    spans = np.zeros(values.shape[1])
    if spans.size:
        _call(put_spans, np.ascontiguousarray(values).ravel(), spans.size, spans)
    return spans


def _sample_rows(samples: Samples) -> Vector:
    """Samples as rows, as they are collected (`Collected.kept`)."""
    return np.hstack(
        [
            samples.times[:, None],
            samples.outputs,
            samples.inputs,
            samples.defects,
            samples.energy,
            samples.ends,
            samples.teeth,
        ]
    )


def _address_of(array: Any) -> int:
    return int(array.ctypes.data)


def _call(function: Callable[..., int], *arguments: Any) -> int:
    with np.errstate(all="ignore"):  # as in compiled code
        return int(_compiled(function)(*arguments))


@cache
def _compiled(function: Callable[..., int]) -> Callable[..., int]:
    return compile_function(function, ENTRIES[function])
