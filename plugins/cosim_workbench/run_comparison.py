"""The agreement of runs of one model: of their events, and signal by signal."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim import Result
from cosim.kit import Verification
from cosim_workbench.agreement import (
    A_LITTLE,
    MOST_DIGITS,
    PROMISED,
    RESOLVED,
    Agreement,
    Difference,
    are_counted,
    at_the_end,
    decision_time,
    difference_of,
    digits_of,
    promised_digits,
    size_of,
    standing_of,
)
from cosim_workbench.compared_runs import VerifiedRun
from cosim_workbench.comparison_report import report_of
from cosim_workbench.event_agreement import EventDifference, MatchedEvents, match_events
from cosim_workbench.recorded_at import recorded_rows
from cosim_workbench.verdict import outcome_of, verdict_of

Reals = NDArray[np.float64]
ODD = 1.0  # digits that the other runs must gain without the odd one
RESIDUAL = "energy.residual"  # an error itself: it is compared on the scale of the energies
ROUNDING = 1e-12
"""A signal below this part of a larger one may be rounding of it."""
MOVED_BY_ROUNDING = 1e-15
"""A start that was moved by no more was moved by rounding."""
NOISE = 1000.0
"""Times what a start moved by rounding does: what differs by no more may be rounding."""


class RunComparison(Verification):
    """A run compared with others of the same model that should agree with it.

    Parameters
    ----------
    runs : sequence of VerifiedRun
        The one that was asked for first. Those whose start was moved are compared with that one alone.
    accuracy : float
        The accuracy of that run.
    grid : array_like, s
        Times at which they are compared, after the events of that instant.
    set_aside : sequence of VerifiedRun
        Runs that are not compared: the same with a smaller tolerance is among `runs`, and agrees with them.
    state_sizes : mapping of str to float, optional
        What states are compared with that are zero, or rounding, in the runs.
    rounding_grows_to : float
        The largest move of a state that moving the start by rounding has caused, if known: over its size, or
        how far it would go at its first rate.
    largest_reach : float
        The largest of these sizes and ways.
    of_the_method : collection of str
        Paths of variables that tell what the method does: they are not compared, nor are events that change
        nothing else.
    """

    def __init__(
        self,
        runs: Sequence[VerifiedRun],
        accuracy: float,
        grid: Reals,
        set_aside: Sequence[VerifiedRun] = (),
        state_sizes: Mapping[str, float] | None = None,
        rounding_grows_to: float = math.inf,
        largest_reach: float = 0.0,
        of_the_method: Collection[str] = (),
    ) -> None:
        self.runs, self.set_aside = list(runs), list(set_aside)
        self._of_the_method = frozenset(of_the_method)
        self.accuracy, self.expected = accuracy, promised_digits(accuracy)
        self.rounding_grows_to, self.largest_reach = rounding_grows_to, largest_reach
        self._grid = np.asarray(grid, dtype=np.float64)
        self._given = self.runs[0]
        ended = [run for run in self.runs if not run.failure]
        self.opinions = [run for run in ended if not run.start_moved_by]
        moved = [run for run in ended if run.start_moved_by and not self.thresholds_crossed(run)]
        self._by_rounding = [run for run in moved if run.start_moved_by <= MOVED_BY_ROUNDING]
        self._by_accuracy = [run for run in moved if run.start_moved_by > MOVED_BY_ROUNDING]
        tables = {id(run): _at(run.result, self._grid) for run in ended}
        self._sizes = _sizes([tables[id(run)] for run in self.opinions])
        self._state_sizes = {**self._sizes, **(state_sizes or {})}
        self._matches = {pair: self._match(*pair) for pair in self._pairs()}
        self.agreements: list[Agreement] = []
        if len(ended) > 1 and self._grid.size and not self._given.failure:
            self.agreements = [*self._of_signals(tables), *self._of_event_times()]

    def _pairs(self) -> list[tuple[VerifiedRun, VerifiedRun]]:
        moved = [*self._by_rounding, *self._by_accuracy]
        return [*combinations(self.opinions, 2), *((self._counterpart(run), run) for run in moved)]

    def _counterpart(self, run: VerifiedRun) -> VerifiedRun:
        """The run from the original start that differs from a moved one in its start alone."""
        return next((other for other in self.opinions if other.name == run.counterpart), self._given)

    def _match(self, run: VerifiedRun, other: VerifiedRun) -> MatchedEvents:
        end = float(self._grid[-1]) if self._grid.size else math.inf
        tolerance = PROMISED * self.accuracy * self._span
        pair = (run.name, run.handled_events), (other.name, other.handled_events)
        return match_events(*pair, end, tolerance, self._is_negligible)

    def _is_negligible(self, event: Any) -> bool:
        """Whether an event changes its variables by less than the accuracy promises of them."""
        if event.does == "publish":
            return False
        for path in event.changed:
            if path in self._of_the_method:
                continue
            before, after = np.asarray(event.before[path]), np.asarray(event.after[path])
            if before.dtype.kind != "f":
                return False
            sizes = self._state_sizes.items()
            size = max((s for name, s in sizes if name == path or name.startswith(f"{path}[")), default=0.0)
            if not np.all(np.abs(after - before) <= PROMISED * self.accuracy * size):
                return False
        return True

    def thresholds_crossed(self, run: VerifiedRun) -> set[str]:
        """Witnesses on whose wrong side a moved start lies: what happens from there is another matter."""
        return run.wrong_sides - self._given.wrong_sides

    @property
    def _span(self) -> float:
        return float(self._grid[-1] - self._grid[0]) if self._grid.size else 0.0

    def _of_signals(self, tables: Mapping[int, Mapping[str, Any]]) -> list[Agreement]:
        """The agreement about each signal of the first run."""
        columns = self._given.result.columns()
        units = {
            name: self._given.result.unit(name)
            for name in columns
            if name.partition("[")[0] not in self._of_the_method
        }
        largest: dict[str, float] = {}
        for name, unit in units.items():
            largest[unit] = max(largest.get(unit, 0.0), self._sizes[name])
        hidden = {pair: match.hidden(self._grid) for pair, match in self._matches.items()}
        agreements = []
        for name, unit in units.items():
            courses = {id(run): tables[id(run)][name] for run in self._compared}
            counted = are_counted(list(courses.values()))
            differences = {
                (run.name, other.name): difference_of(
                    self._grid, courses[id(run)], courses[id(other)], counted, hidden[run, other]
                )
                for run, other in hidden
            }
            size = largest[unit] if name == RESIDUAL else self._sizes[name]
            last = at_the_end(self._grid)
            size_at_end = max(size_of(courses[id(run)][last]) for run in self.opinions)
            agreement = self._agreement(
                name, differences, size, math.nan if counted or name == RESIDUAL else size_at_end
            )
            moved = [run for run in self._by_accuracy if (self._counterpart(run), run) in hidden]
            if moved:
                decided_at = decision_time(
                    self._grid,
                    courses[id(self._counterpart(moved[0]))],
                    [courses[id(run)] for run in moved],
                    size,
                    [hidden[self._counterpart(run), run] for run in moved],
                )
                agreement = replace(agreement, decided_at=decided_at)
            is_low = not counted and self._is_at_rounding_level(agreement, differences, largest[unit])
            agreements.append(
                replace(agreement, standing=standing_of(agreement, self.accuracy, is_low, self._states_stay))
            )
        return agreements

    def _of_event_times(self) -> list[Agreement]:
        """The agreement about the times of events that all runs have."""
        agreements = []
        for handler in self._given.handled_events.times:
            differences = {
                (run.name, other.name): _time_difference(*match.times[handler])
                for (run, other), match in self._matches.items()
                if handler in match.times
            }
            if any(difference.largest > 0.0 for difference in differences.values()):
                agreement = self._agreement(f"time of {handler}", differences, self._span, math.nan)
                agreements.append(
                    replace(
                        agreement,
                        standing=standing_of(agreement, self.accuracy, states_stay=self._states_stay),
                    )
                )
        return agreements

    def _agreement(
        self, name: str, differences: Mapping[tuple[str, str], Difference], size: float, size_at_end: float
    ) -> Agreement:
        """The agreement about a signal from differences of pairs of runs; NaN at the end is not judged."""
        names = [run.name for run in self.opinions]
        between = {pair: differences[pair] for pair in combinations(names, 2) if pair in differences}
        worst = max(between.values(), key=lambda d: d.largest, default=Difference(0.0, math.nan, 0.0))
        digits = digits_of(worst.largest, size)
        at_end = max((d.at_end for d in between.values()), default=0.0)
        digits_at_end = MOST_DIGITS if math.isnan(size_at_end) else digits_of(at_end, size_at_end)
        agreement = Agreement(
            name, digits, size=size, time=worst.time, digits_at_end=digits_at_end, size_at_end=size_at_end
        )
        agreement = self._with_moved(agreement, differences)
        if len(names) < 3:
            return agreement
        without = {
            name: min(digits_of(d.largest, size) for pair, d in between.items() if name not in pair)
            for name in names
        }
        odd = max(without, key=lambda name: without[name])
        if without[odd] < digits + ODD:
            return agreement
        return replace(agreement, odd=odd, digits_without=without[odd])

    def _with_moved(
        self, agreement: Agreement, differences: Mapping[tuple[str, str], Difference]
    ) -> Agreement:
        """The agreement with what moving the start does to the signal."""
        by_rounding = self._moved(self._by_rounding, differences)
        size = agreement.size or by_rounding  # what is zero from its own start has no other size
        if not size > 0.0:
            return agreement
        growth = max(
            (self._moved([run], differences) / (size * run.start_moved_by) for run in self._by_accuracy),
            default=1.0,
        )
        return replace(agreement, moved_by_rounding=by_rounding / size, growth=max(growth, 1.0))

    def _is_at_rounding_level(
        self, agreement: Agreement, differences: Mapping[tuple[str, str], Difference], largest_of_unit: float
    ) -> bool:
        """Whether a signal is nothing but rounding of other signals."""
        by_rounding = self._moved(self._by_rounding, differences)
        size = agreement.size or by_rounding
        is_moved = by_rounding >= A_LITTLE * size or not self._by_rounding
        if size <= ROUNDING * largest_of_unit and is_moved:
            return True
        differs = agreement.size * 10.0**-agreement.digits if agreement.digits < MOST_DIGITS else 0.0
        is_rounding = by_rounding >= A_LITTLE * size and differs <= NOISE * by_rounding < math.inf
        if not is_rounding:
            return False
        if self._states_stay and size <= RESOLVED * self.accuracy * self.largest_reach:
            return True
        return size <= ROUNDING * max(self._sizes.values(), default=0.0)

    @property
    def _states_stay(self) -> bool:
        """Whether no state grows away when the start is moved by rounding."""
        return self.rounding_grows_to <= PROMISED * self.accuracy

    def _moved(self, runs: Sequence[VerifiedRun], differences: Mapping[tuple[str, str], Difference]) -> float:
        pairs = [(self._counterpart(run).name, run.name) for run in runs]
        return max((differences[pair].largest for pair in pairs if pair in differences), default=0.0)

    @property
    def _compared(self) -> list[VerifiedRun]:
        return [*self.opinions, *self._by_rounding, *self._by_accuracy]

    @property
    def failed(self) -> list[VerifiedRun]:
        """Runs whose failure counts: one whose start was moved may leave where the model is defined."""
        failures = [run for run in self.runs if run.failure and not run.start_moved_by]
        if not self._by_rounding:
            failures += [
                run for run in self.runs if run.failure and 0.0 < run.start_moved_by <= MOVED_BY_ROUNDING
            ]
        return failures

    @property
    def event_differences(self) -> list[EventDifference]:
        """Events that one run has and another does not, both from the same start; the earliest first."""
        return sorted(self._differences(with_moved=False), key=lambda difference: difference.time)

    @property
    def events_of_moved_starts(self) -> list[EventDifference]:
        """Events that come or go when the start is moved by rounding, or by an accuracy."""
        return self._differences(with_moved=True)

    def _differences(self, with_moved: bool) -> list[EventDifference]:
        return [
            match.difference
            for (_, other), match in self._matches.items()
            if match.difference is not None and (other.start_moved_by > 0.0) == with_moved
        ]

    @property
    def nearly_at_once(self) -> list[tuple[float, str, str]]:
        """Scheduled events of the first run whose order is a matter of rounding: time, and both handlers."""
        return self._given.handled_events.nearly_at_once

    @property
    def doubtful(self) -> list[Agreement]:
        return [agreement for agreement in self.agreements if agreement.is_doubtful]

    @property
    def outcome(self) -> str:
        return outcome_of(self)

    @property
    def is_confirmed(self) -> bool:
        return self.outcome == "confirmed"

    @property
    def verdict(self) -> str:
        return verdict_of(self)

    def __str__(self) -> str:
        return report_of(self)


def _at(result: Result, grid: Reals) -> dict[str, NDArray[Any]]:
    """The columns of a result at these times, after the events of each; NaN where it has none."""
    if not len(result):
        return {name: np.full(grid.shape, math.nan) for name in result.columns()}
    rows, is_recorded = recorded_rows(result.time, grid)
    return {
        name: values[rows]
        if values.dtype == object or is_recorded.all()
        else np.where(is_recorded, values[rows], np.nan)
        for name, values in result.columns().items()
    }


def _sizes(tables: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, float]:
    """The largest magnitude of each column in any of these tables."""
    sizes: dict[str, float] = {}
    for table in tables:
        for name, values in table.items():
            sizes[name] = max(sizes.get(name, 0.0), size_of(values))
    return sizes


def _time_difference(times: Reals, other_times: Reals) -> Difference:
    distance = np.abs(times - other_times)
    if not distance.size or not distance.any():
        return Difference(0.0, math.nan, 0.0)
    worst = int(np.argmax(distance))
    return Difference(float(distance[worst]), float(times[worst]), 0.0)
