"""The result of a co-simulation: recorded values, events and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import cosim
from cosim_master.abilities import RecordsEvents
from cosim_master.recording.coupling_errors import CouplingReport


@dataclass
class CoSimulationStatistics:
    """The cost of a co-simulation.

    Attributes
    ----------
    steps : int
        Communication steps.
    events : int
        Early returns, requests to stop, and the events that participants report.
    retries : int
        Steps of single participants that were continued after an early return.
    wall_time : float
        s, from instantiation to the last step.
    stepping_time : float
        The part of it in the loop over the communication steps, recording included, s.
    participant_time : dict of str to float
        s, spent in the `step` of each participant that is called in Python (`in_python`). The others, which
        compiled code calls, are not timed.
    overruns : int
        Communication points that were reached later than the real-time rate allows.
    largest_lag : float
        The largest delay, s.
    algorithm : dict of str to float
        The counts of the master algorithm: iterations, rejected steps.
    loop : str
        "compiled", and the algorithm if it decides in Python.
    in_python : dict of str to str
        Participants that are called in Python, and the reasons.
    python_files : dict of str to str
        By participant: the Python file beside the scenario that makes it.
    warnings : list of str
        Warnings about the run, in sentences.
    """

    steps: int = 0
    events: int = 0
    retries: int = 0
    wall_time: float = 0.0
    stepping_time: float = 0.0
    participant_time: dict[str, float] = field(default_factory=dict)
    overruns: int = 0
    largest_lag: float = 0.0
    algorithm: dict[str, float] = field(default_factory=dict)
    loop: str = ""
    in_python: dict[str, str] = field(default_factory=dict)
    python_files: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def events_inside(participants: Mapping[str, cosim.Participant]) -> list[cosim.EventRecord]:
    """Events of the participants that record some; handlers and variables with the participant's name.

    Parameters
    ----------
    participants : mapping of str to Participant
        Only some record events (`RecordsEvents`).
    """
    return [
        _named(name, event)
        for name, participant in participants.items()
        if isinstance(participant, RecordsEvents)
        for event in tuple(participant.events)
    ]


def in_order(*lists: Iterable[cosim.EventRecord]) -> list[cosim.EventRecord]:
    """All events by time; those of one instant in the order of the lists."""
    return sorted((event for events in lists for event in events), key=lambda event: event.time)


def without_returns(
    returned: Iterable[cosim.EventRecord], reported: Iterable[cosim.EventRecord]
) -> list[cosim.EventRecord]:
    """The events of the coupling, without early returns that the participant itself reports as events."""
    reported_instants = {(event.handler.partition(".")[0], event.time) for event in reported}
    triggered = cosim.EventCause.TRIGGERED
    return [e for e in returned if e.cause is not triggered or (e.handler, e.time) not in reported_instants]


def _named(name: str, event: cosim.EventRecord) -> cosim.EventRecord:
    before, after = (
        {f"{name}.{path}": value for path, value in values.items()} for values in (event.before, event.after)
    )
    changed = tuple(f"{name}.{path}" for path in event.changed)
    return replace(event, handler=f"{name}.{event.handler}", changed=changed, before=before, after=after)


class CoSimulationResult(cosim.Result):
    """A result that knows the error of its coupling.

    Parameters
    ----------
    *arguments, **options
        As for `Result`.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._assess: Callable[[], CouplingReport] = _unknown
        self._report: CouplingReport | None = None
        self._evidence: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """The state for another process: without the participants, with a report only if there is one."""
        return {**self.__dict__, "_evidence": None, "_assess": _unknown}

    @property
    def evidence(self) -> Any:
        """`CoupledParticipants`, with the samples of the coupling; None when it has none."""
        return self._evidence

    def store_evidence(self, coupled: Any) -> None:
        """Store the samples of the coupling."""
        self._evidence = coupled

    @property
    def coupling(self) -> CouplingReport:
        """The error of the coupling, computed when it is first read, then also in `statistics`."""
        if self._report is None:
            self._report = self._assess()
            self.statistics["coupling"] = self._report.figures()
        return self._report

    def require(self, requirement: str) -> None:
        """Raise if the verdict on the coupling is not "fine", or with "known" if its error is not known.

        Raises
        ------
        CouplingError
            With the verdict and what to do.
        """
        self.coupling.require(requirement)

    def assess_by(self, assess: Callable[[], CouplingReport]) -> None:
        """Let this function assess the coupling error when it is first read."""
        self._assess, self._report = assess, None


def _unknown() -> CouplingReport:
    """The report of results that have no samples."""
    return CouplingReport([], verdict="unknown", advice="these results came without the samples of their run")
