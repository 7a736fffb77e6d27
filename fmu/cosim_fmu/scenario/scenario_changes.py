"""``[[changes]]`` of a scenario: inputs and parameters that get other values at times, on conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_fmu.scenario.condition import parse_condition
from cosim_fmu.scenario.parameter_file import flat
from cosim_master.coupling.connection import Connection
from cosim_master.participants.timed_inputs import TimedInputs
from cosim_master.participants.triggered_changes import SEEN, Trigger, TriggeredChanges
from cosim_toml.toml_lines import KeyPath

KEYS = ("at", "when", "set")
NAME = "changes"
"""Of the participant that gives the values."""
FORM = 'at = "1 s" (or when = "plant.T > 300") and set = { "plant.u" = 3.0 }'

Say = Callable[[KeyPath, str], None]


def make_changes(
    entries: Any, participants: Mapping[str, cosim.Participant], starts: Mapping[str, Any], say: Say
) -> tuple[TimedInputs | None, list[Connection]]:
    """A participant that gives the changed values, and its connections.

    Parameters
    ----------
    entries : object
        Of the file: a list of tables with ``at = "1 s"``, or ``when = "plant.T > 300"``, and
        ``set = { "plant.u" = 3.0 }``.
    participants : mapping of str to Participant
    starts : mapping of str to object
        Values until the first change.
    say : callable
        Takes the key and the text of a problem.
    """
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        say((NAME,), f"needs a list of tables: [[changes]] with {FORM}")
        return None, []
    changed = Changed()
    triggers: list[Trigger] = []
    seen: dict[str, ParticipantVariable] = {}
    for i, entry in enumerate(entries):
        for key in entry:
            if key not in KEYS:
                say((NAME, i, key), str(cosim.LookUpError("key", key, KEYS)))
        try:
            values = flat(entry["set"])
            if "when" in entry:
                if "at" in entry:
                    raise ValueError("it has both")
                descriptions = _described(participants)
                condition = parse_condition(str(entry["when"]), descriptions)
                numbers = changed.add(values, None, participants, starts, partial(say, (NAME, i)))
                triggers.append(Trigger(f"{NAME}[{i}]", str(entry["when"]), condition, numbers))
                for path in condition.paths:
                    participant, _, name = path.partition(".")
                    seen[path] = descriptions[participant].variables[name]
            else:
                time = cosim.parse_quantity(entry["at"], "s")
                changed.add(values, time, participants, starts, partial(say, (NAME, i)))
        except (KeyError, TypeError, ValueError, cosim.UnitError) as error:
            say((NAME, i), f"needs {FORM} ({error})")
    series = {path: sorted(pairs, key=lambda pair: pair[0]) for path, pairs in changed.series.items()}
    if not series:
        return None, []
    connections = [Connection(f"{NAME}.{path}", path, reads_any=True) for path in series]
    if not triggers:
        return TimedInputs(series, "held", changed.types, changed.units), connections
    connections += [Connection(path, f"{NAME}.{SEEN}{path}", reads_any=True) for path in seen]
    return TriggeredChanges(series, changed.types, changed.units, triggers, seen), connections


def _described(participants: Mapping[str, cosim.Participant]) -> dict[str, ParticipantDescription]:
    """Descriptions of the participants that have a sound one; of others it is said elsewhere."""
    found = {}
    for name, participant in participants.items():
        with suppress(Exception):
            found[name] = participant.describe()
    return found


class Changed:
    """What changes, by path: its values over time, its type and its unit."""

    def __init__(self) -> None:
        self.series: dict[str, list[tuple[float, float]]] = {}
        self.types: dict[str, str] = {}
        self.units: dict[str, str] = {}

    def add(
        self,
        values: Mapping[str, Any],
        time: float | None,
        participants: Mapping[str, cosim.Participant],
        starts: Mapping[str, Any],
        say: Callable[[str], None],
    ) -> dict[str, float]:
        """Take what is set at a time (s), or at a time that is not known; the numbers, in the units."""
        numbers = {}
        for path, value in values.items():
            fault, variable = _changing(path, participants)
            try:
                if variable is not None:
                    numbers[path] = _number(value, variable)
                    if path not in self.series:
                        description = participants[path.partition(".")[0]].describe()
                        first = _first(path, description, starts)
                        self.series[path] = [(-1e300, _number(0.0 if first is None else first, variable))]
                        self.types[path], self.units[path] = variable.type, variable.unit
                    if time is not None:
                        self.series[path].append((time, numbers[path]))
            except (IndexError, TypeError, ValueError) as error:
                fault = f"{path}: {error}"
            if fault:
                say(fault)
        return numbers


def _changing(
    path: str, participants: Mapping[str, cosim.Participant]
) -> tuple[str, ParticipantVariable | None]:
    """The variable of a path that may change while the simulation runs; or what is wrong with it."""
    name, _, variable = path.partition(".")
    if name not in participants:
        return str(cosim.LookUpError("participant", name, participants)), None
    description = participants[name].describe()
    known, tunable = description.variables.get(variable), description.tunable
    if known is None:
        inputs = [n for n, v in description.variables.items() if v.causality == "input"]
        nearest = cosim.LookUpError(f"input or tunable parameter of {name}", variable, [*inputs, *tunable])
        return str(nearest), None
    if known.causality == "parameter" and variable not in tunable:
        text = "is a parameter that may not be set between steps: inputs and tunable ones may"
        return f"{path} {text}", None
    if known.causality not in ("input", "parameter"):
        return f"{path} is of causality {known.causality}: only inputs and parameters change at times", None
    if known.type not in ("real", "integer", "boolean"):
        return f"{path} is {known.type}: only numbers change at times", None
    return "", known


def _first(path: str, description: ParticipantDescription, starts: Mapping[str, Any]) -> Any:
    """The value at the start; that of an element may be given with its whole array."""
    name, _, variable = path.partition(".")
    for array, (_, elements) in description.arrays.items():
        whole = starts.get(f"{name}.{array}")
        if variable in elements and path not in starts and whole is not None:
            return np.array(whole, dtype=object).ravel()[elements.index(variable)]
    return starts.get(path, description.variables[variable].start)


def _number(value: Any, variable: ParticipantVariable) -> float:
    if isinstance(value, str):
        return cosim.parse_quantity(value, variable.unit)
    if not isinstance(value, (bool, int, float)):
        raise ValueError(f"is {value!r}, needs a number [{variable.unit}]")
    return float(value)
