"""Whether the same events happen in two runs, and when."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim import EventCause

Reals = NDArray[np.float64]
ULPS = 8.0
"""Units in the last place: scheduled times closer than this would be equal without rounding."""


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
        count, fewer = self.counts
        present = f"{self.handler} happens {_times(count)} in '{self.present}'"
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
        Scheduled events whose times differ only by rounding: time, first handler, second handler.
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


class EventsOfRun(NamedTuple):
    """The events of a run, and its name."""

    run: str
    events: Events


def match_events(
    first: EventsOfRun,
    second: EventsOfRun,
    end: float,
    tolerance: float,
    is_negligible: Callable[[Any], bool],
) -> MatchedEvents:
    """Match the events of two runs, handler by handler, in order.

    Parameters
    ----------
    first, second : EventsOfRun
    end : float
        The end of the runs, s. An event closer to it than `tolerance` may be after the end of the other run.
    tolerance : float
        s
    is_negligible : callable
        Whether an event that only one run has changes so little that the accuracy allows it to be missing,
        such as the last bounces of a ball that comes to rest.
    """
    times: dict[str, tuple[Reals, Reals]] = {}
    spans: list[tuple[float, float]] = []
    differences: list[EventDifference] = []
    for handler in dict.fromkeys([*first.events.times, *second.events.times]):
        match = _match_handler(handler, first, second, end - tolerance, is_negligible)
        times[handler] = match.first, match.second
        differences += [] if match.difference is None else [match.difference]
        spans += [(time, math.inf) for time in match.late]
        shifted = np.flatnonzero(match.first != match.second)
        begins = np.minimum(match.first, match.second)[shifted]
        ends = np.maximum(match.first, match.second)[shifted]
        spans += list(zip(begins.tolist(), ends.tolist(), strict=True))
    return MatchedEvents(times, min(differences, key=lambda d: d.time, default=None), spans)


class _HandlerMatch(NamedTuple):
    """The matched calls of one handler in two runs: their times in each."""

    first: Reals
    second: Reals
    late: list[float]  # times of unmatched events at the end of the longer list
    difference: EventDifference | None


def _match_handler(
    handler: str,
    first: EventsOfRun,
    second: EventsOfRun,
    last: float,
    is_negligible: Callable[[Any], bool],
) -> _HandlerMatch:
    """Match the calls of one handler; those behind `last` may be missing in the other run."""
    times, other_times = (run.events.times.get(handler, np.zeros(0)) for run in (first, second))
    if times.size == other_times.size:
        return _HandlerMatch(times, other_times, [], None)
    if times.size < other_times.size:
        swapped = _match_handler(handler, second, first, last, is_negligible)
        return swapped._replace(first=swapped.second, second=swapped.first)
    record = partial(first.events.event, handler)
    matched, extra = _common(times, other_times, record, is_negligible, last)
    difference = None
    if extra is not None:
        counts = times.size, other_times.size
        difference = EventDifference(float(times[extra]), handler, first.run, second.run, counts)
    unmatched = np.delete(times, matched)
    late = unmatched[unmatched >= last].tolist()
    return _HandlerMatch(times[matched], other_times[: matched.size], late, difference)


def _common(
    longer: Reals,
    shorter: Reals,
    record: Callable[[int], Any],
    is_negligible: Callable[[Any], bool],
    last: float,
) -> tuple[NDArray[np.int64], int | None]:
    """The times of the longer list with a counterpart in the other, up to the first without one.

    Events behind `last`, and negligible ones, need none.

    Returns
    -------
    (ndarray of int, int or None)
        The places of the matched times; the place of the first one without a counterpart.
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
    """Scheduled events whose times differ only by rounding: time, first handler, second handler."""
    near_pairs = []
    for (before, earlier), (after, later) in pairwise(sorted(scheduled)):
        if before < after <= before + ULPS * math.ulp(max(abs(before), abs(after))) and earlier != later:
            near_pairs.append((before, earlier, later))
    return near_pairs


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")
