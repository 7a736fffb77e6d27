"""A run compared with others of the same model: their events, and their signals one by one."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Verification
from cosim_workbench.agreement import PROMISED, Agreement, promised_digits
from cosim_workbench.compared_runs import VerifiedRun
from cosim_workbench.compared_values import largest_values, values_at
from cosim_workbench.comparison_report import report_of
from cosim_workbench.event_agreement import EventDifference, EventsOfRun, MatchedEvents, match_events
from cosim_workbench.run_groups import MOVED_BY_ROUNDING, RunGroups
from cosim_workbench.signal_agreements import SignalAgreements
from cosim_workbench.verdict import outcome_of, verdict_of

Reals = NDArray[np.float64]


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
        self._groups = RunGroups(self.runs)
        self._of_the_method = frozenset(of_the_method)
        self.accuracy, self.expected = accuracy, promised_digits(accuracy)
        self.rounding_grows_to, self.largest_reach = rounding_grows_to, largest_reach
        self._grid = np.asarray(grid, dtype=np.float64)
        tables = {run: values_at(run.result, self._grid) for run in self._groups.ended}
        sizes = largest_values([tables[run] for run in self._groups.opinions])
        self._state_sizes = {**sizes, **(state_sizes or {})}
        self._matches = {pair: self._match(*pair) for pair in self._groups.pairs}
        self.agreements: list[Agreement] = []
        if len(self._groups.ended) > 1 and self._grid.size and not self._groups.requested.failure:
            signals = SignalAgreements(
                self._groups,
                self._matches,
                self._grid,
                tables,
                sizes,
                accuracy,
                self._of_the_method,
                states_stay=rounding_grows_to <= PROMISED * accuracy,
                largest_reach=largest_reach,
            )
            self.agreements = [*signals.signal_agreements(), *signals.event_time_agreements()]

    @property
    def opinions(self) -> list[VerifiedRun]:
        """The runs from the original start that ended."""
        return self._groups.opinions

    def _match(self, run: VerifiedRun, other: VerifiedRun) -> MatchedEvents:
        """Match the events of two runs; their times may differ by what the accuracy promises of the run."""
        end = float(self._grid[-1]) if self._grid.size else math.inf
        span = float(self._grid[-1] - self._grid[0]) if self._grid.size else 0.0
        first, second = (EventsOfRun(r.name, r.handled_events) for r in (run, other))
        return match_events(first, second, end, PROMISED * self.accuracy * span, self._is_negligible)

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
        return self._groups.thresholds_crossed(run)

    @property
    def failed(self) -> list[VerifiedRun]:
        """Runs whose failure counts: one whose start was moved may leave where the model is defined."""
        failures = [run for run in self.runs if run.failure and not run.start_moved_by]
        if not self._groups.moved_by_rounding:
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
        return self._groups.requested.handled_events.nearly_at_once

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
