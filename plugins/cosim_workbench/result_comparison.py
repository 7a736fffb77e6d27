"""Two results compared: one has to stay in a band around the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import conversion

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Deviation:
    """The deviation of a signal from the reference.

    Attributes
    ----------
    name : str
    largest : float
        Largest distance from the band's middle line, in the unit of the reference; 0 within the band in time.
    allowed : float
        Half of the width of the band.
    time : float
        The first time outside of the band, s; NaN if there is none.
    expected, found : float
        The reference and the other there.
    text : str
        A fault other than the numbers: the signal is missing, has another unit, another text …
    """

    name: str
    largest: float = 0.0
    allowed: float = 0.0
    time: float = float("nan")
    expected: float = float("nan")
    found: float = float("nan")
    text: str = ""

    @property
    def is_within(self) -> bool:
        """Whether it stays in the band."""
        return not self.text and self.time != self.time


def compare_results(
    reference: cosim.Result,
    other: cosim.Result,
    tolerance: float = 1e-6,
    absolute: float = 0.0,
    time_tolerance: float = 0.0,
) -> list[Deviation]:
    """Deviations of all signals of the reference, those that leave the band earliest first.

    At each time the band reaches from the least to the greatest value that the reference has within
    `time_tolerance` (straight lines between its points; both sides where it jumps), and so much farther as is
    allowed: ``absolute + tolerance * (largest magnitude of the signal in the reference)``. The points of
    the other have to lie in it, and the points of the reference in the same band around the other. Text
    keeps its value from point to point; at each point it has to be one that the reference has within
    `time_tolerance`, and the other way round.

    Parameters
    ----------
    reference, other : Result
        Numbers of the other are converted when both have units.
    tolerance : float
        Relative to the signal's largest magnitude.
    absolute : float
        In the unit of the signal.
    time_tolerance : float
        s

    Raises
    ------
    CosimError
        One has no points.
    """
    for name, result in (("the first", reference), ("the second", other)):
        if not len(result):
            raise cosim.CosimError(f"{name} result has no points")
    other_columns, tolerances = other.columns(), _Tolerances(tolerance, absolute, time_tolerance)
    deviations = []
    for name, values in reference.columns().items():
        if name not in other_columns:
            deviations.append(Deviation(name, text="is missing in the second"))
            continue
        courses = _Course(reference.time, values), _Course(other.time, other_columns[name])
        units = reference.unit(name), other.unit(name)
        deviations.append(_compare_signal(name, courses, units, tolerances))
    return sorted(deviations, key=lambda d: (d.is_within, d.time if d.time == d.time else -np.inf, d.name))


class _Tolerances(NamedTuple):
    """The tolerances of `compare_results`."""

    relative: float
    absolute: float
    time: float


def _compare_signal(
    name: str, courses: tuple[_Course, _Course], units: tuple[str, str], tolerances: _Tolerances
) -> Deviation:
    """The deviation of one signal; the course and the unit of the reference come first."""
    reference, other = courses
    if object in (reference.values.dtype, other.values.dtype):
        return _of_texts(name, reference, other, tolerances.time)
    values = reference.values.astype(np.float64)
    try:
        other_values = converted(other.values.astype(np.float64), units[1], units[0])
    except cosim.UnitError as error:
        return Deviation(name, text=str(error))
    finite = values[np.isfinite(values)]
    allowed = tolerances.absolute + tolerances.relative * float(np.abs(finite).max(initial=0.0))
    reference, other = _Course(reference.times, values), _Course(other.times, other_values)
    return _deviation(name, reference, other, allowed, tolerances.time)


def have_common_time(reference: cosim.Result, other: cosim.Result) -> bool:
    """Whether there is a time that lies in both."""
    return bool(max(reference.time[0], other.time[0]) <= min(reference.time[-1], other.time[-1]))


def spans_differ(reference: cosim.Result, other: cosim.Result, time_tolerance: float) -> str:
    """A sentence if one result begins later or ends earlier than the other."""
    ends = [(result.time[0], result.time[-1]) for result in (reference, other)]
    allowed = time_tolerance + 1e-9 * max(abs(ends[0][1]), abs(ends[0][0]))
    if all(abs(a - b) <= allowed for a, b in zip(*ends, strict=True)):
        return ""
    spans = [f"{start:g} s to {end:g} s" for start, end in ends]
    meet = have_common_time(reference, other)
    consequence = "they are compared where both are" if meet else "nothing can be compared"
    return f"the first has {spans[0]}, the second {spans[1]}; {consequence}"


class _Course(NamedTuple):
    """The values of a signal over time: numbers, or text."""

    times: Vector
    values: Any


def _of_texts(name: str, reference: _Course, other: _Course, window: float) -> Deviation:
    """The deviation of texts that are not among those of the other result around that time."""
    kinds = ["text" if course.values.dtype == object else "numbers" for course in (reference, other)]
    if kinds[0] != kinds[1]:
        return Deviation(name, text=f"is {kinds[0]} in the first and {kinds[1]} in the second")
    deviation = Deviation(name)
    for course, points, is_swapped in ((reference, other, False), (other, reference, True)):
        difference = _first_other_text(course, points, window)
        if difference is None or difference.time >= deviation.time:
            continue
        time, nearby, text = difference
        expected, actual = (text, nearby) if is_swapped else (nearby, text)
        sentence = f"differs from t = {time:.9g} s on: {actual!r:.60} instead of {expected!r:.60}"
        deviation = Deviation(name, time=time, text=sentence)
    return deviation


class _TextDifference(NamedTuple):
    """A text that a course does not have around that time, and a text that it has there."""

    time: float
    nearby: Any
    text: Any


def _first_other_text(course: _Course, points: _Course, window: float) -> _TextDifference | None:
    """The first point whose text a course does not have around that time."""
    times = course.times
    start, end = max(times[0], points.times[0]), min(times[-1], points.times[-1])
    rounding = 1e-9 * max(abs(start), abs(end))
    first = np.searchsorted(times, points.times - window - rounding, "left")
    has_point = times[np.minimum(first, times.size - 1)] <= points.times - window + rounding
    first = np.maximum(first - ~has_point, 0)  # else the text of the point before counts there
    last = np.searchsorted(times, points.times + window + rounding, "right")
    for i in np.flatnonzero((points.times >= start) & (points.times <= end)):
        nearby = course.values[first[i] : last[i]]
        if points.values[i] not in nearby:
            return _TextDifference(float(points.times[i]), nearby[-1], points.values[i])
    return None


def _deviation(name: str, reference: _Course, other: _Course, allowed: float, window: float) -> Deviation:
    """The deviation of numbers from a band around the reference, and of the reference from theirs."""
    largest, first = 0.0, Deviation(name, allowed=allowed)
    start, end = max(reference.times[0], other.times[0]), min(reference.times[-1], other.times[-1])
    for course, points, is_swapped in ((reference, other, False), (other, reference, True)):
        inside = (points.times >= start) & (points.times <= end)
        times, numbers = points.times[inside], points.values[inside]
        if not times.size:
            continue
        low, high = band(course.times, course.values, times, window)
        beyond = _distance_from_band(numbers, low, high)
        largest = max(largest, float(beyond.max()))
        outside = np.flatnonzero(beyond > allowed)
        if outside.size and not float(times[outside[0]]) >= first.time:
            i = int(outside[0])
            is_between = low[i] <= high[i] and np.isfinite(numbers[i])
            middle = float(np.clip(numbers[i], low[i], high[i])) if is_between else float(low[i])
            pair = (float(numbers[i]), middle) if is_swapped else (middle, float(numbers[i]))
            first = Deviation(name, 0.0, allowed, float(times[i]), *pair)
    return Deviation(name, largest, allowed, first.time, first.expected, first.found)


def _distance_from_band(numbers: Vector, low: Vector, high: Vector) -> Vector:
    """The distance of numbers from a band; infinite and missing ones have to be equal."""
    with np.errstate(invalid="ignore"):
        beyond = np.maximum(np.maximum(low - numbers, numbers - high), 0.0)
    beyond[~np.isfinite(beyond)] = np.inf
    are_missing = np.isnan(numbers) & (np.isnan(low) | np.isnan(high))
    beyond[are_missing | ((numbers == low) & (numbers == high))] = 0.0
    distance: Vector = beyond
    return distance


def band(times: Vector, values: Vector, points: Vector, window: float) -> tuple[Vector, Vector]:
    """Least and greatest value of a line through points within a window around each time.

    Parameters
    ----------
    times, values : ndarray, shape (n,)
        Times do not decrease; where two are equal, the line jumps.
    points : ndarray, shape (m,)
        Times within those of the line.
    window : float
        Half of its width, s.
    """
    sides = [
        _sides(times, values, np.clip(points + shift, times[0], times[-1])) for shift in (-window, window)
    ]
    edges = np.stack([edge for side in sides for edge in side])
    low, high = edges.min(axis=0), edges.max(axis=0)
    first = np.searchsorted(times, points - window, "left")
    last = np.searchsorted(times, points + window, "right")
    several = np.flatnonzero(last > first)
    if several.size:
        pairs = np.stack([first[several], last[several]], axis=1).ravel()
        padded = np.append(values, values[-1])  # so that an end of n is a place, too
        low[several] = np.minimum(low[several], np.minimum.reduceat(padded, pairs)[::2])
        high[several] = np.maximum(high[several], np.maximum.reduceat(padded, pairs)[::2])
    return low, high


def _sides(times: Vector, values: Vector, points: Vector) -> tuple[Vector, Vector]:
    """Values of the line before and after each time; they differ where it jumps."""
    left = np.clip(np.searchsorted(times, points, "left"), 1, max(times.size - 1, 1))
    right = np.clip(np.searchsorted(times, points, "right"), 1, max(times.size - 1, 1))
    if times.size == 1:
        constant = np.full(points.shape, values[0])
        return constant, constant
    return _on_line(times, values, points, left), _on_line(times, values, points, right)


def _on_line(times: Vector, values: Vector, points: Vector, upper: NDArray[np.intp]) -> Vector:
    times_before, times_after = times[upper - 1], times[upper]
    span = times_after - times_before
    share = np.where(span > 0.0, (points - times_before) / np.where(span > 0.0, span, 1.0), 1.0)
    low, high = values[upper - 1], values[upper]
    with np.errstate(invalid="ignore"):
        line = low + share * (high - low)
    return np.where(share == 0.0, low, np.where(share == 1.0, high, line))


def converted(values: Vector, unit: str, target: str) -> Vector:
    """Numbers in another unit; unchanged when one of the units is unknown."""
    if "1" in (unit, target) or unit == target:
        return values
    factor, offset = conversion(unit, target)
    return factor * values + offset
