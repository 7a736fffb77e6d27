"""Records of what happened: events that were handled, and what the simulator noticed about witnesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cosim.cause import EventCause
from cosim.simulation.status import Severity


@dataclass(frozen=True, eq=False)
class EventRecord:
    """One handler that was called.

    Two are equal if all they say is: NaN is equal to NaN, and arrays element by element.

    Attributes
    ----------
    time : float
        s
    cause : EventCause
    does : str
        "unrestricted", "discrete" or "publish".
    handler : str
        ``"ball.bounce"``.
    window : (float, float)
        The two times between which it happened, s; equal unless it was located.
    witness : str
        The witness of a triggered event, else empty.
    severity : Severity
    message : str
    changed : tuple of str
        Paths of the variables that it changed.
    name : str
        The name of the cause: the witness, the signal, the timer, else the handler, without its part.
    witness_values : (float, float)
        The values of the witness at both ends of the window; NaN for events without one.
    before, after : mapping of str to object
        Values of the variables that it changed.
    duration : float
        Time spent in a handler that is a Python method, s; 0 for kernel functions.
    """

    time: float
    cause: EventCause
    does: str
    handler: str
    window: tuple[float, float]
    witness: str = ""
    severity: Severity = Severity.SUCCEEDED
    message: str = ""
    changed: tuple[str, ...] = ()
    name: str = ""
    witness_values: tuple[float, float] = (float("nan"), float("nan"))
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    duration: float = 0.0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EventRecord):
            return NotImplemented
        fields, other_fields = vars(self), vars(other)
        return all(_are_same(value, other_fields[name]) for name, value in fields.items())

    def __hash__(self) -> int:
        return hash((self.time, self.cause, self.handler))

    @property
    def owner(self) -> str:
        """The part that the handler belongs to."""
        return self.handler.rpartition(".")[0]

    def row(self) -> dict[str, Any]:
        """The event as one row of a table: numbers and text alone."""
        window_start, window_end = self.window
        witness_before, witness_after = self.witness_values
        return {
            "time": self.time,
            "cause": self.cause.name.lower(),
            "name": self.name,
            "owner": self.owner,
            "handler": self.handler,
            "does": self.does,
            "window_start": window_start,
            "window_end": window_end,
            "witness": self.witness,
            "witness_before": witness_before,
            "witness_after": witness_after,
            "status": self.severity.name.lower(),
            "message": self.message,
            "changed": ", ".join(
                f"{path}: {_shown(self.before.get(path))} → {_shown(self.after.get(path))}"
                for path in self.changed
            ),
            "duration": self.duration,
        }


@dataclass(frozen=True)
class Finding:
    """Something about a witness, the status of a part or a signal that the user should know.

    Attributes
    ----------
    time : float
        s
    kind : str
        "wrong side", "chattering", "zeno", "held" or "released"; "status" for a slot with a notice; "not a
        number" for a recorded signal; "overwritten" for a handler that writes what another one has written at
        the same instant; "moved start" for a state that constraints move before a run; "passed timer" for a
        timer that is set to a time before the start; "no derivative", "inexact derivative" and "one-sided
        derivative" for derivatives of runs.
    witness : str
        ``"ball.floor"``; the path of the slot, of the signal, of the handler or of the variable;
        ``"d(ball.height)/d(ball.e)"``.
    message : str
        A sentence.
    """

    time: float
    kind: str
    witness: str
    message: str


def _are_same(left: Any, right: Any) -> bool:
    """Whether two values of a field are equal, with NaN as a value."""
    if isinstance(left, Mapping):
        is_alike = isinstance(right, Mapping) and left.keys() == right.keys()
        return is_alike and all(_are_same(value, right[key]) for key, value in left.items())
    if isinstance(left, (float, tuple, np.ndarray)):
        numbers = not isinstance(left, tuple) or not any(isinstance(value, str) for value in left)
        return bool(np.array_equal(left, right, equal_nan=True)) if numbers else left == right
    return bool(left == right)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return np.array2string(value, precision=6) if isinstance(value, np.ndarray) else str(value)
