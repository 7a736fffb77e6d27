"""``[[changes]]`` of a scenario: inputs and parameters that get other values at times, on conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_fmu.scenario.scenario_conditions import parse_condition
from cosim_fmu.scenario.scenario_variant import flat
from cosim_master.coupling.connection import Connection
from cosim_master.participants.timed_changes import SEEN, Changes, Trigger, TriggeredChanges
from cosim_toml.toml_lines import KeyPath

KEYS = ("at", "when", "set")
NAME = "changes"
"""The name of the participant that gives the values."""
BEFORE_ALL_TIMES = -1e300
"""The time from which a start value counts, s."""
FORM = 'at = "1 s" (or when = "plant.T > 300") and set = { "plant.u" = 3.0 }'

ReportProblem = Callable[[KeyPath, str], None]


def make_changes(
    entries: Any,
    participants: Mapping[str, cosim.Participant],
    starts: Mapping[str, Any],
    report: ReportProblem,
) -> tuple[Changes | None, list[Connection]]:
    """A participant that gives the changed values, and its connections.

    Parameters
    ----------
    entries : object
        Of the file: a list of tables with ``at = "1 s"``, or ``when = "plant.T > 300"``, and
        ``set = { "plant.u" = 3.0 }``.
    participants : mapping of str to Participant
    starts : mapping of str to object
        Values until the first change.
    report : callable
        Takes the key and the text of a problem.
    """
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        report((NAME,), f"needs a list of tables: [[changes]] with {FORM}")
        return None, []
    changed = ChangedValues()
    triggers: list[Trigger] = []
    watched: dict[str, ParticipantVariable] = {}
    for i, entry in enumerate(entries):
        for key in entry:
            if key not in KEYS:
                report((NAME, i, key), str(cosim.LookUpError("key", key, KEYS)))
        try:
            values = flat(entry["set"])
            if "when" in entry:
                if "at" in entry:
                    raise ValueError("it has both 'when' and 'at': write two changes")
                descriptions = _described(participants)
                condition = parse_condition(str(entry["when"]), descriptions)
                numbers = changed.add(values, None, participants, starts, partial(report, (NAME, i)))
                triggers.append(Trigger(f"{NAME}[{i}]", str(entry["when"]), condition, numbers))
                for path in condition.paths:
                    participant, _, name = path.partition(".")
                    watched[path] = descriptions[participant].variables[name]
            else:
                time = cosim.parse_quantity(entry["at"], "s")
                changed.add(values, time, participants, starts, partial(report, (NAME, i)))
        except (KeyError, TypeError, ValueError, cosim.UnitError) as error:
            report((NAME, i), f"needs {FORM} ({error})")
    series = {path: sorted(pairs, key=lambda pair: pair[0]) for path, pairs in changed.series.items()}
    if not series:
        return None, []
    connections = [Connection(f"{NAME}.{path}", path, reads_any=True) for path in series]
    if not triggers:
        return Changes(series, changed.types, changed.units, changed.unknown), connections
    connections += [Connection(path, f"{NAME}.{SEEN}{path}", reads_any=True) for path in watched]
    kinds = series, changed.types, changed.units, changed.unknown
    return TriggeredChanges(*kinds, triggers, watched), connections


def _described(participants: Mapping[str, cosim.Participant]) -> dict[str, ParticipantDescription]:
    """Descriptions of the participants that have a sound one; of others it is said elsewhere."""
    descriptions = {}
    for name, participant in participants.items():
        with suppress(Exception):
            descriptions[name] = participant.describe()
    return descriptions


class ChangedValues:
    """Values that change, by path: their course, type and unit; and the paths whose start is unknown."""

    def __init__(self) -> None:
        self.unknown: set[str] = set()
        self.series: dict[str, list[tuple[float, float]]] = {}
        self.types: dict[str, str] = {}
        self.units: dict[str, str] = {}

    def add(
        self,
        values: Mapping[str, Any],
        time: float | None,
        participants: Mapping[str, cosim.Participant],
        starts: Mapping[str, Any],
        report: Callable[[str], None],
    ) -> dict[str, float]:
        """Add values that are set at a time (s), or at an unknown time. Returns the numbers in the units."""
        numbers = {}
        for path, value in values.items():
            variable, fault = _changing_variable(path, participants)
            try:
                if variable is not None:
                    numbers[path] = _number(value, variable)
                    if path not in self.series:
                        description = participants[path.partition(".")[0]].describe()
                        start = _start(path, description, starts)
                        if start is None and variable.causality == "parameter":
                            self.unknown.add(path)
                        first = _number(0.0 if start is None else start, variable)
                        self.series[path] = [(BEFORE_ALL_TIMES, first)]
                        self.types[path], self.units[path] = variable.type, variable.unit
                    if time is not None:
                        self.series[path].append((time, numbers[path]))
            except (IndexError, TypeError, ValueError) as error:
                fault = f"{path}: {error}"
            if fault:
                report(fault)
        return numbers


def _changing_variable(
    path: str, participants: Mapping[str, cosim.Participant]
) -> tuple[ParticipantVariable | None, str]:
    """The variable of a path that may change while the simulation runs; or what is wrong with it."""
    participant, _, name = path.partition(".")
    if participant not in participants:
        return None, str(cosim.LookUpError("participant", participant, participants))
    description = participants[participant].describe()
    variable, tunable = description.variables.get(name), description.tunable
    if variable is None:
        inputs = [n for n, v in description.variables.items() if v.causality == "input"]
        role = f"input or tunable parameter of {participant}"
        return None, str(cosim.LookUpError(role, name, [*inputs, *tunable]))
    if variable.causality == "parameter" and name not in tunable:
        text = "is a parameter that may not be set between steps: inputs and tunable ones may"
        return None, f"{path} {text}"
    if variable.causality not in ("input", "parameter"):
        return (
            None,
            f"{path} is of causality {variable.causality}: only inputs and parameters change at times",
        )
    if variable.type not in ("real", "integer", "boolean"):
        return None, f"{path} is {variable.type}: only numbers change at times"
    return variable, ""


def _start(path: str, description: ParticipantDescription, starts: Mapping[str, Any]) -> Any:
    """The value at the start; that of an element may be given with its whole array."""
    name, _, variable = path.partition(".")
    for array, (_, elements) in description.arrays.items():
        whole = starts.get(f"{name}.{array}")
        if variable in elements and path not in starts and whole is not None:
            return np.array(whole, dtype=object).ravel()[elements.index(variable)]
    return starts.get(path, description.variables[variable].start)


def _number(value: Any, variable: ParticipantVariable) -> float:
    """A value in the unit of its variable; ``ValueError`` where it is not a number."""
    if isinstance(value, str):
        return cosim.parse_quantity(value, variable.unit)
    if not isinstance(value, (bool, int, float)):
        raise ValueError(f"is {value!r}, needs a number [{variable.unit}]")
    return float(value)
