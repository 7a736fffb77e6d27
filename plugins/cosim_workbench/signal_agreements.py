"""The agreement of runs about each signal, and about the times of events."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim_workbench.agreement import (
    MOST_DIGITS,
    RESOLVED,
    VISIBLE_MOVE,
    Agreement,
    Difference,
    are_counted,
    at_the_end,
    decision_time,
    difference_of,
    digits_of,
    size_of,
    standing_of,
)
from cosim_workbench.compared_runs import VerifiedRun
from cosim_workbench.compared_values import Reals, Table
from cosim_workbench.event_agreement import MatchedEvents
from cosim_workbench.run_groups import RunGroups

Differences = Mapping[tuple[str, str], Difference]
"""The differences of pairs of runs, by their names."""
ODD = 1.0
"""Digits that the other runs must gain without the odd one."""
RESIDUAL = "energy.residual"
"""A signal that is an error itself: it is compared on the scale of the energies."""
ROUNDING = 1e-12
"""A signal below this part of a larger one may be rounding of it."""
NOISE = 1000.0
"""Runs whose difference is below so many times the effect of a start moved by rounding may differ by it."""


@dataclass(frozen=True)
class SignalAgreements:
    """Finds how far runs agree about their signals and about the times of their events.

    Attributes
    ----------
    groups : RunGroups
    matches : mapping of (VerifiedRun, VerifiedRun) to MatchedEvents
        The events of each pair of runs that are compared.
    grid : ndarray, s
        Times at which they are compared.
    tables : mapping of VerifiedRun to Table
        The values of each run at these times.
    sizes : mapping of str to float
        The largest magnitude of each signal, in its unit.
    accuracy : float
        The accuracy of the run that was asked for.
    of_the_method : collection of str
        Paths of variables that tell what the method does: they are not compared.
    states_stay : bool
        Whether no state grows away when the start is moved by rounding.
    largest_reach : float
        The largest size of a state, or way that it would go at its first rate.
    """

    groups: RunGroups
    matches: Mapping[tuple[VerifiedRun, VerifiedRun], MatchedEvents]
    grid: Reals
    tables: Mapping[VerifiedRun, Table]
    sizes: Mapping[str, float]
    accuracy: float
    of_the_method: Collection[str]
    states_stay: bool
    largest_reach: float

    def of_signals(self) -> list[Agreement]:
        """The agreement about each signal of the first run."""
        result = self.groups.requested.result
        units = {
            name: result.unit(name)
            for name in result.columns()
            if name.partition("[")[0] not in self.of_the_method
        }
        largest: dict[str, float] = {}
        for name, unit in units.items():
            largest[unit] = max(largest.get(unit, 0.0), self.sizes[name])
        hidden = {pair: match.hidden(self.grid) for pair, match in self.matches.items()}
        return [self._of_signal(name, largest[unit], hidden) for name, unit in units.items()]

    def of_event_times(self) -> list[Agreement]:
        """The agreement about the times of events that all runs have, where they differ."""
        span = float(self.grid[-1] - self.grid[0])
        agreements = []
        for handler in self.groups.requested.handled_events.times:
            differences = {
                (run.name, other.name): _time_difference(*match.times[handler])
                for (run, other), match in self.matches.items()
                if handler in match.times
            }
            if any(difference.largest > 0.0 for difference in differences.values()):
                agreement = self._agreement(f"time of {handler}", differences, span, math.nan)
                standing = standing_of(agreement, self.accuracy, states_stay=self.states_stay)
                agreements.append(replace(agreement, standing=standing))
        return agreements

    def _of_signal(
        self,
        name: str,
        largest_of_unit: float,
        hidden: Mapping[tuple[VerifiedRun, VerifiedRun], NDArray[np.bool_]],
    ) -> Agreement:
        """The agreement about a signal; `hidden` says where pairs of runs are not compared."""
        courses = {run: self.tables[run][name] for run in self.groups.compared}
        counted = are_counted(list(courses.values()))
        differences = {
            (run.name, other.name): difference_of(self.grid, courses[run], courses[other], counted, where)
            for (run, other), where in hidden.items()
        }
        size = largest_of_unit if name == RESIDUAL else self.sizes[name]
        last = at_the_end(self.grid)
        size_at_end = max(size_of(courses[run][last]) for run in self.groups.opinions)
        if counted or name == RESIDUAL:
            size_at_end = math.nan
        agreement = self._agreement(name, differences, size, size_at_end)
        agreement = replace(agreement, decided_at=self._decision_time(courses, size, hidden))
        is_low = not counted and self._is_at_rounding_level(agreement, differences, largest_of_unit)
        return replace(agreement, standing=standing_of(agreement, self.accuracy, is_low, self.states_stay))

    def _decision_time(
        self,
        courses: Mapping[VerifiedRun, NDArray[Any]],
        size: float,
        hidden: Mapping[tuple[VerifiedRun, VerifiedRun], NDArray[np.bool_]],
    ) -> float:
        """The time from which a decision changes a signal after a start moved by an accuracy, s; or NaN."""
        pairs = [(self.groups.counterpart(run), run) for run in self.groups.moved_by_accuracy]
        pairs = [pair for pair in pairs if pair in hidden]
        if not pairs:
            return math.nan
        original = courses[pairs[0][0]]
        moved = [courses[run] for _, run in pairs]
        return decision_time(self.grid, original, moved, size, [hidden[pair] for pair in pairs])

    def _agreement(self, name: str, differences: Differences, size: float, size_at_end: float) -> Agreement:
        """The agreement about a signal from differences of pairs of runs; NaN at the end is not judged."""
        names = [run.name for run in self.groups.opinions]
        between = {pair: differences[pair] for pair in combinations(names, 2) if pair in differences}
        worst = max(between.values(), key=lambda d: d.largest, default=Difference(0.0, math.nan, 0.0))
        digits = digits_of(worst.largest, size)
        at_end = max((d.at_end for d in between.values()), default=0.0)
        digits_at_end = MOST_DIGITS if math.isnan(size_at_end) else digits_of(at_end, size_at_end)
        agreement = Agreement(
            name, digits, size=size, time=worst.time, digits_at_end=digits_at_end, size_at_end=size_at_end
        )
        agreement = self._with_effect_of_moves(agreement, differences)
        return _with_odd_run(agreement, names, between) if len(names) >= 3 else agreement

    def _with_effect_of_moves(self, agreement: Agreement, differences: Differences) -> Agreement:
        """The agreement with what moving the start does to the signal."""
        by_rounding = self._effect_of_moves(self.groups.moved_by_rounding, differences)
        size = agreement.size or by_rounding  # what is zero from its own start has no other size
        if not size > 0.0:
            return agreement
        growth = max(
            (
                self._effect_of_moves([run], differences) / (size * run.start_moved_by)
                for run in self.groups.moved_by_accuracy
            ),
            default=1.0,
        )
        return replace(agreement, moved_by_rounding=by_rounding / size, growth=max(growth, 1.0))

    def _effect_of_moves(self, runs: Sequence[VerifiedRun], differences: Differences) -> float:
        """The largest difference of any of these moved runs from its counterpart."""
        pairs = [(self.groups.counterpart(run).name, run.name) for run in runs]
        return max((differences[pair].largest for pair in pairs if pair in differences), default=0.0)

    def _is_at_rounding_level(
        self, agreement: Agreement, differences: Differences, largest_of_unit: float
    ) -> bool:
        """Whether a signal is nothing but rounding of other signals.

        There are three signs of it. A start moved by rounding changes such a signal visibly. The runs differ
        by not much more than that. And the signal is small: beside another signal of its unit, beside what
        the accuracy resolves of the states, or beside any other signal.
        """
        by_rounding = self._effect_of_moves(self.groups.moved_by_rounding, differences)
        size = agreement.size or by_rounding
        is_moved = by_rounding >= VISIBLE_MOVE * size
        is_small_of_its_unit = size <= ROUNDING * largest_of_unit
        if is_small_of_its_unit and (is_moved or not self.groups.moved_by_rounding):
            return True
        deviation = agreement.size * 10.0**-agreement.digits if agreement.digits < MOST_DIGITS else 0.0
        differs_by_rounding = deviation <= NOISE * by_rounding < math.inf
        if not (is_moved and differs_by_rounding):
            return False
        if self.states_stay and size <= RESOLVED * self.accuracy * self.largest_reach:
            return True
        return size <= ROUNDING * max(self.sizes.values(), default=0.0)


def _with_odd_run(agreement: Agreement, names: Sequence[str], between: Differences) -> Agreement:
    """The agreement with the run, if there is one, without which the others agree to more digits."""
    digits_without = {
        name: min(digits_of(d.largest, agreement.size) for pair, d in between.items() if name not in pair)
        for name in names
    }
    odd = max(digits_without, key=lambda name: digits_without[name])
    if digits_without[odd] < agreement.digits + ODD:
        return agreement
    return replace(agreement, odd=odd, digits_without=digits_without[odd])


def _time_difference(times: Reals, other_times: Reals) -> Difference:
    """The difference between the times of matched events, s."""
    distance = np.abs(times - other_times)
    if not distance.size or not distance.any():
        return Difference(0.0, math.nan, 0.0)
    worst = int(np.argmax(distance))
    return Difference(float(distance[worst]), float(times[worst]), 0.0)
