"""Served: a participant in its process, whose methods are called by name."""

from __future__ import annotations

from typing import Any

import cosim
from cosim_master.exchange.exchange_arrays import READING, STEPPING
from cosim_master.processes.calls import CLOSE, LOG, WRITES
from cosim_master.processes.native_service import Unusual
from cosim_master.processes.sent_values import listed, sent_values


class Served:
    """A participant, the groups of names that its calls refer to, and its saved states.

    Attributes
    ----------
    participant : Participant
    names : list of list of str
    tokens : dict of int to object
        Saved states, by the number that stands for them.
    """

    def __init__(self, participant: cosim.Participant) -> None:
        self.participant: Any = participant
        self.names: list[list[str]] = []
        self.tokens: dict[int, Any] = {}

    def call(self, name: str, arguments: list[Any]) -> Any:
        """Call a method; the caller gets numbers for saved states, which stay in this process."""
        participant = self.participant
        if name in ("restore", "serialize"):
            return getattr(participant, name)(self.tokens[arguments[0]])
        if name in ("save", "deserialize"):
            number = max(self.tokens, default=0) + 1
            self.tokens[number] = getattr(participant, name)(*arguments)
            return number
        if name == "get":
            return sent_values(participant.get(self.names[arguments[0]]))
        from cosim_master.abilities import (
            InitializationMode,
            RecordsEvents,
            ReportsCloseError,
            ReportsWarnings,
            Resizes,
            Watches,
        )
        from cosim_master.processes.plain_events import plain_event

        optional: dict[str, Any] = {
            "exit_initialization": InitializationMode,
            "configure": Resizes,
            "watch": Watches,
            "events": RecordsEvents,
            "warnings": ReportsWarnings,
        }
        if name in optional and not isinstance(participant, optional[name]):
            return []
        if name == CLOSE:
            participant.close()
            return participant.close_error() if isinstance(participant, ReportsCloseError) else ""
        if name == "events":
            return [plain_event(event) for event in participant.events]
        if name == "warnings":
            return list(participant.warnings)
        if name not in CALLS:
            raise cosim.CosimError(f"unknown call {name}")
        answer = getattr(participant, name)(*arguments)
        return list(answer) if name == "directional_derivative" else answer

    def write(self, name: str, names: int, values: Any) -> None:
        """Set inputs, or their slopes."""
        if name not in WRITES:
            raise cosim.CosimError(f"unknown call {name}")
        getattr(self.participant, name)(self.names[names], listed(values))

    def step(self, time: float, size: float, unusual: Unusual | None = None) -> tuple[float, list[Any]]:
        """The time that was reached, and the values inside the step, which compiled code may have begun."""
        participant = self.participant
        if unusual is not None and unusual.calling == STEPPING:
            reached = participant.finish_native_step(unusual.status, time, size)
        elif unusual is not None and unusual.calling == READING:
            reached = time + size
        else:
            reached = participant.step(time, size)
        inner_points = getattr(participant, "inside", None)
        points = inner_points() if inner_points is not None else ()
        return reached, [(point.time, list(point.names), list(point.values)) for point in points]

    def read_behind(self, names: int) -> Any:
        """Values after a step; None if reading them fails: the caller asks again, and gets the error then."""
        try:
            return sent_values(self.participant.get(self.names[names]))
        except Exception:
            return None


CALLS = (
    *("initialize", "exit_initialization", "directional_derivative", "configure", "watch"),
    *(LOG, "save", "restore", "serialize", "deserialize"),
)
"""Methods of a participant that are called, and answered, as they are."""
