"""Agreement of runs about each signal, and about the times of events."""

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
DIGITS_GAINED_WITHOUT_ODD_RUN = 1.0
"""Digits by which the agreement of the other runs must improve without the odd one."""
RESIDUAL = "energy.residual"
"""A signal that is an error itself: it is compared on the scale of the energies."""
ROUNDING = 1e-12
"""A signal that is smaller than this fraction of a larger one may be rounding of it."""
NOISE = 1000.0
"""Differences of runs up to this multiple of the effect of a start moved by rounding may be rounding."""


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
        Paths of variables that report on the numerical method: they are not compared.
    states_stay : bool
        Whether a start moved by rounding has no growing effect on the states.
    largest_reach : float
        The largest size of a state, or distance that it would cover at its initial rate.
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

    def signal_agreements(self) -> list[Agreement]:
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
        # runs are not compared at times near their matched events
        hidden = {pair: match.hidden(self.grid) for pair, match in self.matches.items()}
        return [self._compare_signal(name, largest[unit], hidden) for name, unit in units.items()]

    def event_time_agreements(self) -> list[Agreement]:
        """The agreement about the times of events that all runs have, if the times differ."""
        span = float(self.grid[-1] - self.grid[0])
        agreements = []
        for handler in self.groups.requested.handled_events.times:
            differences = {
                (run.name, other.name): _time_difference(*match.times[handler])
                for (run, other), match in self.matches.items()
                if handler in match.times
            }
            if any(difference.largest > 0.0 for difference in differences.values()):
                agreement = self._agreement_from_differences(
                    f"time of {handler}", differences, span, math.nan
                )
                standing = standing_of(agreement, self.accuracy, states_stay=self.states_stay)
                agreements.append(replace(agreement, standing=standing))
        return agreements

    def _compare_signal(
        self,
        name: str,
        largest_of_unit: float,
        hidden: Mapping[tuple[VerifiedRun, VerifiedRun], NDArray[np.bool_]],
    ) -> Agreement:
        """The agreement about a signal; `hidden` masks the times at which a pair of runs is not compared."""
        courses = {run: self.tables[run][name] for run in self.groups.compared}
        counted = are_counted(list(courses.values()))
        differences = {
            (run.name, other.name): difference_of(self.grid, courses[run], courses[other], counted, where)
            for (run, other), where in hidden.items()
        }
        size = largest_of_unit if name == RESIDUAL else self.sizes[name]
        is_at_end = at_the_end(self.grid)
        size_at_end = max(size_of(courses[run][is_at_end]) for run in self.groups.opinions)
        if counted or name == RESIDUAL:
            size_at_end = math.nan  # the end is not compared
        agreement = self._agreement_from_differences(name, differences, size, size_at_end)
        agreement = replace(agreement, decided_at=self._decision_time(courses, size, hidden))
        is_low = not counted and self._is_at_rounding_level(agreement, differences, largest_of_unit)
        return replace(agreement, standing=standing_of(agreement, self.accuracy, is_low, self.states_stay))

    def _decision_time(
        self,
        courses: Mapping[VerifiedRun, NDArray[Any]],
        size: float,
        hidden: Mapping[tuple[VerifiedRun, VerifiedRun], NDArray[np.bool_]],
    ) -> float:
        """Time from which runs with starts moved by the accuracy decide differently about a signal, s.

        NaN if there is none. See `agreement.decision_time`.
        """
        pairs = [(self.groups.counterpart(run), run) for run in self.groups.moved_by_accuracy]
        pairs = [pair for pair in pairs if pair in hidden]
        if not pairs:
            return math.nan
        original_course = courses[pairs[0][0]]
        moved_courses = [courses[run] for _, run in pairs]
        masks = [hidden[pair] for pair in pairs]
        return decision_time(self.grid, original_course, moved_courses, size, masks)

    def _agreement_from_differences(
        self, name: str, differences: Differences, size: float, size_at_end: float
    ) -> Agreement:
        """The agreement about a signal; if `size_at_end` is NaN, the end is not compared."""
        names = [run.name for run in self.groups.opinions]
        opinion_differences = {
            pair: differences[pair] for pair in combinations(names, 2) if pair in differences
        }
        worst = max(
            opinion_differences.values(), key=lambda d: d.largest, default=Difference(0.0, math.nan, 0.0)
        )
        digits = digits_of(worst.largest, size)
        at_end = max((d.at_end for d in opinion_differences.values()), default=0.0)
        digits_at_end = MOST_DIGITS if math.isnan(size_at_end) else digits_of(at_end, size_at_end)
        agreement = Agreement(
            name, digits, size=size, time=worst.time, digits_at_end=digits_at_end, size_at_end=size_at_end
        )
        agreement = self._with_effect_of_moves(agreement, differences)
        return _with_odd_run(agreement, names, opinion_differences) if len(names) >= 3 else agreement

    def _with_effect_of_moves(self, agreement: Agreement, differences: Differences) -> Agreement:
        """The agreement with the sensitivity of the signal to a moved start."""
        by_rounding = self._effect_of_moves(self.groups.moved_by_rounding, differences)
        size = agreement.size or by_rounding  # a signal that is 0 takes the size of its moves
        if not size > 0.0:  # also NaN
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
        """The largest difference between a moved run and its counterpart."""
        pairs = [(self.groups.counterpart(run).name, run.name) for run in runs]
        return max((differences[pair].largest for pair in pairs if pair in differences), default=0.0)

    def _is_at_rounding_level(
        self, agreement: Agreement, differences: Differences, largest_of_unit: float
    ) -> bool:
        """Whether a signal is nothing but rounding of other signals.

        One of these three has to hold:

        1. The signal is small beside another signal of its unit, and a start moved by rounding changes it
           visibly (or no run has a start moved by rounding).
        2. A start moved by rounding changes it visibly, the runs differ by not much more than that, and it is
           small beside the resolution of the states by the accuracy.
        3. The same, and it is small beside any other signal.
        """
        by_rounding = self._effect_of_moves(self.groups.moved_by_rounding, differences)
        size = agreement.size or by_rounding
        is_moved = by_rounding >= VISIBLE_MOVE * size
        is_small_of_its_unit = size <= ROUNDING * largest_of_unit
        if is_small_of_its_unit and (is_moved or not self.groups.moved_by_rounding):  # 1
            return True
        deviation = agreement.size * 10.0**-agreement.digits if agreement.digits < MOST_DIGITS else 0.0
        differs_by_rounding = deviation <= NOISE * by_rounding < math.inf
        if not (is_moved and differs_by_rounding):
            return False
        if self.states_stay and size <= RESOLVED * self.accuracy * self.largest_reach:  # 2
            return True
        return size <= ROUNDING * max(self.sizes.values(), default=0.0)  # 3


def _with_odd_run(agreement: Agreement, names: Sequence[str], differences: Differences) -> Agreement:
    """The agreement with the odd run, if there is one: without it the others agree to more digits."""
    digits_without = {
        name: min(digits_of(d.largest, agreement.size) for pair, d in differences.items() if name not in pair)
        for name in names
    }
    odd = max(digits_without, key=lambda name: digits_without[name])
    if digits_without[odd] < agreement.digits + DIGITS_GAINED_WITHOUT_ODD_RUN:
        return agreement
    return replace(agreement, odd=odd, digits_without=digits_without[odd])


def _time_difference(times: Reals, other_times: Reals) -> Difference:
    """The difference between the times of matched events, s."""
    distance = np.abs(times - other_times)
    if not distance.size or not distance.any():
        return Difference(0.0, math.nan, 0.0)
    worst = int(np.argmax(distance))
    return Difference(float(distance[worst]), float(times[worst]), 0.0)
