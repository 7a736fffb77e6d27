"""The result of a co-simulation: recorded values, figures, and an estimate of its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import cosim
from cosim_master.abilities import RecordsEvents


@dataclass(frozen=True)
class EstimatedError:
    """The estimated error of an output, or of a connection that it feeds.

    Attributes
    ----------
    name : str
        ``participant.output``, or ``source.output → target.input``.
    error : float
        Bar of the largest error of the output over the run, in its unit.
    scale : float
        Range of the output over the run, in its unit.
    unit : str
        The unit of the output.
    defect : float
        Of a connection: mean size of what the input was given beyond the output, in its unit.
    """

    name: str
    error: float
    scale: float
    unit: str
    defect: float = 0.0

    @property
    def relative(self) -> float:
        """Error over range; 0 where there is no error, infinite where an output that is 0 has one."""
        if not self.error > 0.0:
            return 0.0
        return self.error / self.scale if self.scale > 0.0 else math.inf

    def __str__(self) -> str:
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{self.name}: {self.error:.2g}{unit}"


FINE = 0.01
"""Errors up to this part of an output's range need no remark."""


UNSTABLE = "unstable"
"""The verdict on a run whose values have exploded."""
REQUIRED = {"fine": ("fine",), "known": ("fine", "smaller step", "tighter tolerance", "other algorithm")}
"""The verdicts that meet each requirement."""
MOST_NAMES = 4
"""Names in a line."""


class CouplingError(cosim.CosimError):
    """The verdict on a coupling is not what was required."""


@dataclass(frozen=True)
class CouplingReport:
    """The errors that the coupling made in a run, and what to do about them.

    Attributes
    ----------
    connections : list of EstimatedError
        The errors of exchanged values; the largest relative one first.
    energy : dict of str to float
        The energy that the coupling created in each power bond, in the product of its outputs' units times s.
    verdict : str
        "fine", "smaller step", "tighter tolerance", "other algorithm", "unknown" or "unstable".
    advice : str
        The proposed change, in a sentence; empty for the verdict "fine".
    how : str
        How the errors were found out.
    signals : list of EstimatedError
        Of each real output that is exchanged or recorded, ends of chains and inner variables too; the largest
        relative one first.
    not_judged : list of str
        What is recorded and has no bar: whole numbers, truths and texts, or all where nothing is known.
    jumps : set of str
        Outputs that change at events alone: they are off by a jump where it comes an exchange late, and
        decide on the verdict only where there are no others.
    """

    connections: list[EstimatedError]
    energy: Mapping[str, float] = field(default_factory=dict)
    verdict: str = "fine"
    advice: str = ""
    how: str = "estimated"
    signals: list[EstimatedError] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)
    jumps: set[str] = field(default_factory=set)

    @property
    def worst(self) -> EstimatedError | None:
        """The largest relative error of an output that does not only jump, if there is one."""
        smooth = [each for each in self.signals if each.name not in self.jumps]
        return next(iter(smooth or self.signals or self.connections), None)

    def __getitem__(self, name: str) -> EstimatedError:
        """The error of a connection, or of an output that is exchanged or recorded, by its name."""
        errors = [*self.signals, *self.connections]
        for each in errors:
            if name in (each.name, each.name.replace("→", "->")):
                return each
        raise cosim.LookUpError("output or connection", name, [each.name for each in errors])

    def unknown(self, why: str) -> CouplingReport:
        """The report with unknown errors, and the reason."""
        return replace(self, verdict="unknown", advice=why)

    def require(self, wanted: str) -> None:
        """Raise if the verdict is not "fine", or not "known".

        Raises
        ------
        CouplingError
            With the verdict and what to do.
        CosimError
            `wanted` is none of these words.
        """
        if wanted not in REQUIRED:
            raise cosim.CosimError(
                f"require: {wanted!r} is not a verdict, needs {' or '.join(map(repr, REQUIRED))}"
            )
        if self.verdict not in REQUIRED[wanted]:
            raise CouplingError(
                f"the verdict on the coupling is {self.verdict!r}, and {wanted!r} is required: {self}"
            )

    def __str__(self) -> str:
        """A line of figures; a second one where there is something to do."""
        created = max(self.energy.items(), key=lambda item: abs(item[1]), default=None)
        energy = "" if created is None else f"   energy created {created[1]:.2g} in {created[0]}"
        worst = self.worst
        left = self._left()
        if self.verdict in ("unknown", UNSTABLE) or worst is None:
            word = "coupling unstable" if self.verdict == UNSTABLE else "coupling error unknown"
            return (f"{word}: {self.advice}" if self.advice else "") + energy
        output, unit = worst.name.partition(" → ")[0], "" if worst.unit == "1" else f" {worst.unit}"
        part = f", {100.0 * worst.relative:.2g} % of its range" if worst.relative > 0.0 else ""
        line = f"coupling error {worst.error:.2g}{unit} ({self.how}, largest: {output}{part}){energy}"
        return "\n".join([line, *([f"{self.verdict}: {self.advice}"] if self.advice else []), *left])

    def _left(self) -> list[str]:
        """A line of what is not judged."""
        if not self.not_judged:
            return []
        shown, more = ", ".join(self.not_judged[:MOST_NAMES]), len(self.not_judged) - MOST_NAMES
        return [f"not judged: {shown}" + (f" and {more} more" if more > 0 else "")]

    def figures(self) -> dict[str, Any]:
        """Numbers and text alone, for files."""
        return {
            "verdict": self.verdict,
            "advice": self.advice,
            "how": self.how,
            "connections": {
                each.name: {
                    "error": each.error,
                    "scale": each.scale,
                    "unit": each.unit,
                    "defect": each.defect,
                }
                for each in self.connections
            },
            "signals": {
                each.name: {"error": each.error, "scale": each.scale, "unit": each.unit}
                for each in self.signals
            },
            "not_judged": list(self.not_judged),
            "energy": dict(self.energy),
        }


@dataclass
class CoSimulationStatistics:
    """The cost of a co-simulation.

    Attributes
    ----------
    steps : int
        Communication steps.
    events : int
        Early returns, requests to stop, and what participants that record their events report.
    retries : int
        Steps of single participants that were continued after an early return.
    wall_time : float
        s, from instantiation to the last step.
    stepping_time : float
        s, of it in the loop over the communication steps, recording included.
    participant_time : dict of str to float
        s, spent in the `step` of each participant that is called in Python (`in_python`); of those that
        compiled code calls no time is taken.
    overruns : int
        Communication points that were reached later than the real-time rate wanted.
    largest_lag : float
        By how much at most, s.
    algorithm : dict of str to float
        The counts of the master algorithm: iterations, rejected steps.
    loop : str
        "compiled", and the algorithm, if it decides in Python.
    in_python : dict of str to str
        Participants that are called in Python at their place, and why.
    python_files : dict of str to str
        By participant: the Python file beside the scenario whose code it is.
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
        Those that record events (`RecordsEvents`) are asked.
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
    """The events of the coupling but for early returns of which the participant itself tells more."""
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
    *given, **more
        As for `Result`.
    """

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
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

    def require(self, wanted: str) -> None:
        """Raise if the verdict on the coupling is not "fine", or with "known" if its error is not known.

        Raises
        ------
        CouplingError
            With the verdict and what to do.
        """
        self.coupling.require(wanted)

    def assess_by(self, assess: Callable[[], CouplingReport]) -> None:
        """Let this function assess the coupling error when it is first read."""
        self._assess, self._report = assess, None


def _unknown() -> CouplingReport:
    """The report of results that have no samples."""
    return CouplingReport([], verdict="unknown", advice="these results came without the samples of their run")
