"""Runs that are compared, and the interface of their comparison for the verdict and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cosim import Result
from cosim_workbench.agreement import Agreement
from cosim_workbench.event_agreement import EventDifference, Events


@dataclass(frozen=True, eq=False)
class VerifiedRun:
    """A run of a comparison.

    Attributes
    ----------
    name : str
        What is different in it: "as given", "tenth of the tolerance" …
    method : str
        Integrator, accuracy and solver.
    result : Result
        The result of the run, up to a failure.
    failure : str
        Why it failed; empty when it did not.
    start_moved_by : float
        The largest move of a state at the start, over the size of the state in the run; 0 as given.
    counterpart : str
        Of a moved start: the name of the run from the original start that is compared with it; the one as
        given unless another is named.
    """

    name: str
    method: str
    result: Result
    failure: str = ""
    start_moved_by: float = 0.0
    counterpart: str = ""
    handled_events: Events = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "handled_events", Events(self.result.events))

    @property
    def wrong_sides(self) -> set[str]:
        """Witnesses that stood on the wrong side at the start."""
        return {finding.witness for finding in self.result.findings if finding.kind == "wrong side"}

    @property
    def events(self) -> int:
        """The number of events, without those that belong to each step."""
        return self.handled_events.count


class ComparedRuns(Protocol):
    """A comparison of runs of one model (`RunComparison`).

    Attributes
    ----------
    runs, set_aside : list of VerifiedRun
        Those that are compared, the one that was asked for first; and those that are not.
    agreements : list of Agreement
        One for each signal.
    expected : float
        Digits below which a signal is in doubt.
    """

    runs: list[VerifiedRun]
    set_aside: list[VerifiedRun]
    agreements: list[Agreement]
    expected: float

    @property
    def failed(self) -> Sequence[VerifiedRun]:
        """Runs whose failure counts."""

    @property
    def event_differences(self) -> Sequence[EventDifference]:
        """Events that one run has and another does not; the earliest first."""

    @property
    def events_of_moved_starts(self) -> Sequence[EventDifference]:
        """Events that come or go when the start is moved."""

    @property
    def nearly_at_once(self) -> Sequence[tuple[float, str, str]]:
        """Scheduled events whose order is a matter of rounding: time, and both handlers."""

    @property
    def doubtful(self) -> Sequence[Agreement]:
        """Agreements to fewer digits than the accuracy promises."""

    @property
    def outcome(self) -> str:
        """The class of the verdict."""

    @property
    def verdict(self) -> str:
        """The verdict in a sentence."""

    def thresholds_crossed(self, run: VerifiedRun) -> set[str]:
        """Witnesses on whose wrong side a moved start lies."""
