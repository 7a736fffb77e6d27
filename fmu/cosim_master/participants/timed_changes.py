"""Values that change: at times, or when conditions become true."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_master.participants.timed_inputs import TimedInputs, as_type

SEEN = "seen."
"""Prefix of the names of inputs: variables that conditions read."""


class Condition(Protocol):
    """A condition on values by path."""

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it is true."""


class Trigger(NamedTuple):
    """Values that are set when a condition becomes true.

    Attributes
    ----------
    name : str
        For events and messages: ``changes[1]``.
    text : str
        The condition as it was written.
    condition : Condition
    values : dict of str to float
        By path.
    """

    name: str
    text: str
    condition: Condition
    values: dict[str, float]


class Changes(TimedInputs):
    """Values that change at times; before its first change each is the start value of the variable it sets.

    Parameters
    ----------
    series, types, units
        As for `TimedInputs`, held, by the paths of the variables that they set. The first value of each
        counts if there is no start value.
    unknown : collection of str
        Paths of variables that need a start value.
    """

    def __init__(
        self,
        series: Mapping[str, Sequence[Any]],
        types: Mapping[str, str],
        units: Mapping[str, str],
        unknown: Collection[str] = (),
    ) -> None:
        super().__init__(series, "held", types, units)
        self._declared, self._unknown = dict(self._series), frozenset(unknown)

    def hold_starts(self, starts: Mapping[str, Any]) -> None:
        """Receive the start values of a run, which hold until the first change.

        Parameters
        ----------
        starts : mapping of str to object
            By path, in the units of the variables.

        Raises
        ------
        ModelError
            A parameter has none, and declares none.
        """
        if missing := sorted(self._unknown - set(starts)):
            raise cosim.ModelError.of(
                "changes", f"the value of {missing[0]} before its change is unknown: give it in parameters"
            )
        self._series = {
            path: (times, np.array([starts.get(path, values[0]), *values[1:]], dtype=values.dtype))
            for path, (times, values) in self._declared.items()
        }


class _Saved(NamedTuple):
    """A saved state.

    Attributes
    ----------
    time : float
        s
    values, set_at, held
        As the attributes of `TriggeredChanges`.
    event_count : int
    """

    time: float
    values: dict[str, Any]
    set_at: dict[str, tuple[float, float]]
    held: list[bool]
    event_count: int


class TriggeredChanges(Changes):
    """Values over time that conditions may change, too; the later change counts.

    Conditions are evaluated at the start, and at the end of each step with the received values of other
    participants: with an algorithm that exchanges within steps those of the same instant. A condition that
    becomes true sets its values once.

    Parameters
    ----------
    series, types, units, unknown
        As for `Changes`.
    triggers : sequence of Trigger
    watched : mapping of str to ParticipantVariable
        The variables that conditions read, by path.
    """

    def __init__(
        self,
        series: Mapping[str, Sequence[Any]],
        types: Mapping[str, str],
        units: Mapping[str, str],
        unknown: Collection[str],
        triggers: Sequence[Trigger],
        watched: Mapping[str, ParticipantVariable],
    ) -> None:
        super().__init__(series, types, units, unknown)
        self._triggers, self._watched = triggers, dict(watched)
        self._values: dict[str, Any] = {}
        self._set_at: dict[str, tuple[float, float]] = {}  # time and value of the last change by a condition
        self._held = [False] * len(triggers)
        self._events: list[cosim.EventRecord] = []

    @property
    def triggers(self) -> Sequence[Trigger]:
        """The triggers: values that conditions set."""
        return self._triggers

    @property
    def events(self) -> list[cosim.EventRecord]:
        """Each time that a condition became true."""
        return self._events

    @property
    def change_times(self) -> NDArray[np.float64] | None:
        """None: conditions may become true at any time."""
        return None

    def describe(self) -> ParticipantDescription:
        """Outputs that are held, and inputs that conditions read."""
        description = super().describe()
        inputs = {SEEN + p: replace(v, name=SEEN + p, causality="input") for p, v in self._watched.items()}
        return replace(description, kind="values that change", variables={**description.variables, **inputs})

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Start at a time; no condition has been true."""
        super().initialize(start, stop, values, tolerance)
        self._values = {path: v.start for path, v in self._watched.items()}
        self._set_at, self._held, self._events = {}, [False] * len(self._triggers), []

    def exit_initialization(self) -> None:
        """Evaluate the conditions at the start."""
        self._evaluate()

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Receive the values that the conditions read."""
        self._values.update(zip((name.removeprefix(SEEN) for name in names), values, strict=True))

    def step(self, time: float, size: float) -> float:
        """Advance the time, then evaluate the conditions."""
        end = super().step(time, size)
        self._evaluate()
        return end

    def get(self, names: Sequence[str]) -> list[Any]:
        """Values at the present time."""
        return [
            self._values[name.removeprefix(SEEN)] if name.startswith(SEEN) else self._value(name)
            for name in names
        ]

    def save(self) -> Any:
        """The time, the values that were set, and the conditions that hold."""
        values, set_at, held = dict(self._values), dict(self._set_at), list(self._held)
        return _Saved(self._time, values, set_at, held, len(self._events))

    def restore(self, token: Any) -> None:
        """Restore time, values and conditions; events since then are dropped."""
        self._time = token.time
        self._values, self._set_at, self._held = dict(token.values), dict(token.set_at), list(token.held)
        del self._events[token.event_count :]

    def serialize(self, token: Any) -> bytes:
        """The state as JSON, without the events: a resumed run reports its own events alone."""
        return json.dumps(token[:-1], default=lambda number: number.item()).encode()

    def deserialize(self, data: bytes) -> Any:
        """A token for a state that was serialized."""
        time, values, set_at, held = json.loads(data)
        return _Saved(time, values, {path: tuple(pair) for path, pair in set_at.items()}, held, 0)

    def _value(self, name: str) -> Any:
        """The value that a condition has set, or that of the series if it has changed later."""
        set_at, value = self._set_at.get(name, (-np.inf, 0.0))
        times = self._series[name][0]
        last_change = times[max(int(np.searchsorted(times, self._time, "right")) - 1, 0)]
        return (
            as_type(value, self._types.get(name, "real")) if set_at >= last_change else super()._value(name)
        )

    def _evaluate(self) -> None:
        if any(self._values[path] is None for path in self._watched):
            return
        for i, trigger in enumerate(self._triggers):
            held_before = self._held[i]
            self._held[i] = trigger.condition.holds(self._values)
            if self._held[i] and not held_before:
                self._fire(trigger)

    def _fire(self, trigger: Trigger) -> None:
        time, paths = self._time, tuple(trigger.values)
        before = {path: self._value(path) for path in paths}
        self._set_at.update({path: (time, value) for path, value in trigger.values.items()})
        self._events.append(
            cosim.EventRecord(
                *(time, cosim.EventCause.TRIGGERED, "discrete", trigger.name, (time, time)),
                witness=trigger.text,
                name=trigger.text,
                changed=paths,
                before=before,
                after={path: self._value(path) for path in paths},
            )
        )
