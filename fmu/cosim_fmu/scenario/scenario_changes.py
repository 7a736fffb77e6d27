"""``[[changes]]`` of a scenario: inputs and parameters that get another value at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_fmu.scenario.parameter_file import flat
from cosim_master.coupling.connection import Connection
from cosim_master.participants.timed_inputs import TimedInputs
from cosim_toml.toml_lines import KeyPath

KEYS = ("at", "set")
NAME = "changes"
"""Of the participant that gives the values."""


def make_changes(
    entries: Any,
    participants: Mapping[str, cosim.Participant],
    starts: Mapping[str, Any],
    say: Callable[[KeyPath, str], None],
) -> tuple[TimedInputs | None, list[Connection]]:
    """A participant that gives the changed values, and its connections.

    Parameters
    ----------
    entries : object
        Of the file: a list of tables with ``at = "1 s"`` and ``set = { "plant.u" = 3.0 }``.
    participants : mapping of str to Participant
    starts : mapping of str to object
        Values until the first change.
    say : callable
        Takes the key and the text of a problem.
    """
    series: dict[str, list[tuple[float, float]]] = {}
    types: dict[str, str] = {}
    units: dict[str, str] = {}
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        say((NAME,), 'needs a list of tables: [[changes]] with at = "1 s" and set = { "plant.u" = 3.0 }')
        return None, []
    for i, entry in enumerate(entries):
        for key in entry:
            if key not in KEYS:
                say((NAME, i, key), str(cosim.LookUpError("key", key, KEYS)))
        try:
            time = cosim.parse_quantity(entry["at"], "s")
            changed = flat(entry["set"])
        except (KeyError, TypeError, ValueError) as error:
            say((NAME, i), f'needs at = "1 s" and set = {{ "plant.u" = 3.0 }} ({error})')
            continue
        for path, value in changed.items():
            fault = _add(path, time, value, participants, starts, series, types, units)
            if fault:
                say((NAME, i), fault)
    series = {path: sorted(pairs, key=lambda pair: pair[0]) for path, pairs in series.items()}
    if not series:
        return None, []
    connections = [Connection(f"{NAME}.{path}", path, reads_any=True) for path in series]
    return TimedInputs(series, "held", types, units), connections


def _add(
    path: str,
    time: float,
    value: Any,
    participants: Mapping[str, cosim.Participant],
    starts: Mapping[str, Any],
    series: dict[str, list[tuple[float, float]]],
    types: dict[str, str],
    units: dict[str, str],
) -> str:
    """Take a change; what is wrong with it."""
    name, _, variable = path.partition(".")
    if name not in participants:
        return str(cosim.LookUpError("participant", name, participants))
    description = participants[name].describe()
    known, tunable = description.variables.get(variable), description.tunable
    if known is None:
        inputs = [n for n, v in description.variables.items() if v.causality == "input"]
        return str(cosim.LookUpError(f"input or tunable parameter of {name}", variable, [*inputs, *tunable]))
    if known.causality == "parameter" and variable not in tunable:
        return f"{path} is a parameter that may not be set between steps: inputs and tunable ones may"
    if known.causality not in ("input", "parameter"):
        return f"{path} is of causality {known.causality}: only inputs and parameters change at times"
    if known.type not in ("real", "integer", "boolean"):
        return f"{path} is {known.type}: only numbers change at times"
    try:
        if path not in series:
            first = _first(path, description, starts)
            series[path] = [(-1e300, _number(0.0 if first is None else first, known))]
            types[path], units[path] = known.type, known.unit
        series[path].append((time, _number(value, known)))
    except (IndexError, TypeError, ValueError) as error:
        return f"{path}: {error}"
    return ""


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
