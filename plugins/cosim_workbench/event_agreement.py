"""Whether the same events happen in two runs, and when."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim import EventCause

Reals = NDArray[np.float64]
ULPS = 8.0
"""Units in the last place: scheduled times closer than this are one time on paper."""


@dataclass(frozen=True)
class EventDifference:
    """The first event that happens in one run and not in another.

    Attributes
    ----------
    time : float
        s
    handler : str
    present, absent : str
        Names of the run that has it, and of the one that does not.
    counts : (int, int)
        How often the handler was called in either.
    """

    time: float
    handler: str
    present: str
    absent: str
    counts: tuple[int, int]

    def __str__(self) -> str:
        more, fewer = self.counts
        present = f"{self.handler} happens {_times(more)} in '{self.present}'"
        absent = f"{_times(fewer)} in '{self.absent}'"
        return f"{present} and {absent}; the first that differs is at t = {self.time:.9g} s"


class Events:
    """The events of one run that do not belong to each step, by their handlers.

    Parameters
    ----------
    events : sequence of EventRecord

    Attributes
    ----------
    times : dict of str to ndarray
        When each handler was called, s.
    nearly_at_once : list of (float, str, str)
        Scheduled events whose times differ by rounding alone: the time, which came first, which then.
    """

    def __init__(self, events: Sequence[Any]) -> None:
        self._events, self._places = events, {}
        self.times: dict[str, Reals] = {}
        scheduled: list[tuple[float, str]] = []
        for (handler, cause), (places, times) in _timeline(events).items():
            if cause is EventCause.TIME_ADVANCED:
                continue
            self._places[handler], self.times[handler] = places, times
            if cause is EventCause.SCHEDULED:
                scheduled += [(time, handler) for time in times.tolist()]
        self.nearly_at_once = _nearly_at_once(scheduled)

    @property
    def count(self) -> int:
        """The number of events."""
        return sum(times.size for times in self.times.values())

    def event(self, handler: str, number: int) -> Any:
        """The record of one call of a handler, counted from 0."""
        return self._events[int(self._places[handler][number])]


@dataclass(frozen=True)
class MatchedEvents:
    """The events of one run matched with those of another.

    Attributes
    ----------
    times : dict of str to (ndarray, ndarray)
        By handler: when the events happened that both runs have, s.
    difference : EventDifference or None
        The first event that only one of them has.
    spans : list of (float, float)
        Between which times an event has happened in one run and not yet in the other, s.
    """

    times: dict[str, tuple[Reals, Reals]]
    difference: EventDifference | None
    spans: list[tuple[float, float]]

    def hidden(self, grid: Reals) -> NDArray[np.bool_]:
        """Whether times of a grid lie where an event has happened in one of the runs alone."""
        is_hidden = np.zeros(grid.shape, dtype=np.bool_)
        for first, last in self.spans:
            is_hidden[np.searchsorted(grid, first, "left") : np.searchsorted(grid, last, "right")] = True
        return is_hidden


def match_events(
    run: tuple[str, Events],
    other: tuple[str, Events],
    end: float,
    tolerance: float,
    is_negligible: Callable[[Any], bool],
) -> MatchedEvents:
    """Match the events of two runs, handler by handler, in order.

    Parameters
    ----------
    run, other : (str, Events)
        Name and events of each run.
    end : float
        The end of the run, s: an event closer to it than `tolerance` may fall behind it in the other run.
    tolerance : float
        s
    is_negligible : callable
        Whether an event that one run alone has changes less than the accuracy lets expect: as the last
        bounces of a ball that comes to rest.
    """
    times: dict[str, tuple[Reals, Reals]] = {}
    spans: list[tuple[float, float]] = []
    differences: list[EventDifference] = []
    none = np.zeros(0)
    for handler in dict.fromkeys([*run[1].times, *other[1].times]):
        first, second = run[1].times.get(handler, none), other[1].times.get(handler, none)
        if first.size != second.size:
            is_first = first.size > second.size
            more, fewer = (run, other) if is_first else (other, run)
            longer, shorter = (first, second) if is_first else (second, first)
            records = partial(more[1].event, handler)
            matched, extra = _common(longer, shorter, records, is_negligible, end - tolerance)
            if extra is not None:
                counts = longer.size, shorter.size
                differences.append(EventDifference(float(longer[extra]), handler, more[0], fewer[0], counts))
            alone = np.delete(longer, matched)
            spans += [(time, math.inf) for time in alone[alone >= end - tolerance].tolist()]
            longer, shorter = longer[matched], shorter[: matched.size]
            first, second = (longer, shorter) if is_first else (shorter, longer)
        times[handler] = first, second
        different = np.flatnonzero(first != second)
        low, high = np.minimum(first, second)[different], np.maximum(first, second)[different]
        spans += list(zip(low.tolist(), high.tolist(), strict=True))
    return MatchedEvents(times, min(differences, key=lambda d: d.time, default=None), spans)


def _common(
    longer: Reals,
    shorter: Reals,
    record: Callable[[int], Any],
    is_negligible: Callable[[Any], bool],
    last: float,
) -> tuple[NDArray[np.int64], int | None]:
    """The times of the longer list with a counterpart in the other, up to the first without one.

    Events behind `last`, and those that are negligible, may lack one.

    Returns
    -------
    (ndarray of int, int or None)
        Places of the former; the place of the latter.
    """
    matched: list[int] = []
    times, shorter_times = longer.tolist(), shorter.tolist()
    spare = len(times) - len(shorter_times)
    for k, time in enumerate(times):
        i = len(matched)
        fits = i < len(shorter_times)
        if fits and spare > 0 and k + 1 < len(times):
            fits = abs(shorter_times[i] - time) <= abs(shorter_times[i] - times[k + 1])
        if fits:
            matched.append(k)
            continue
        spare -= 1
        if time < last and not is_negligible(record(k)):
            return np.array(matched, dtype=np.int64), k
    return np.array(matched, dtype=np.int64), None


def _timeline(events: Sequence[Any]) -> dict[tuple[str, EventCause], tuple[NDArray[np.int64], Reals]]:
    """Places and times of the events of each handler."""
    if hasattr(events, "timeline"):  # numbers, not yet read as records
        timeline: dict[tuple[str, EventCause], tuple[NDArray[np.int64], Reals]] = events.timeline()
        return timeline
    places: dict[tuple[str, EventCause], list[int]] = {}
    for i, event in enumerate(events):
        places.setdefault((event.handler, event.cause), []).append(i)
    return {
        key: (np.array(at, dtype=np.int64), np.array([events[i].time for i in at], dtype=np.float64))
        for key, at in places.items()
    }


def _nearly_at_once(scheduled: list[tuple[float, str]]) -> list[tuple[float, str, str]]:
    """Scheduled events whose times differ by rounding alone: time, which came first, which then."""
    near_pairs = []
    for (before, earlier), (after, later) in pairwise(sorted(scheduled)):
        if before < after <= before + ULPS * math.ulp(max(abs(before), abs(after))) and earlier != later:
            near_pairs.append((before, earlier, later))
    return near_pairs


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")
