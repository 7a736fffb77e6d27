"""``[[changes]]`` of a scenario: inputs that get another value at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cosim
from cosim.kit import ParticipantVariable
from cosim_fmu.master.parameter_file import flat
from cosim_fmu.master.timed_inputs import TimedInputs
from cosim_toml.toml_lines import KeyPath

KEYS = ("at", "set")
NAME = "changes"
"""Of the participant that gives the values."""


def make_changes(
    entries: Any,
    participants: Mapping[str, cosim.Participant],
    starts: Mapping[str, Any],
    say: Callable[[KeyPath, str], None],
) -> tuple[TimedInputs | None, list[tuple[str, str]]]:
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
    return TimedInputs(series, "held", types, units), [(f"{NAME}.{path}", path) for path in series]


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
    variables = participants[name].describe().variables
    known = variables.get(variable)
    inputs = [n for n, v in variables.items() if v.causality == "input"]
    if known is None:
        return str(cosim.LookUpError(f"input of {name}", variable, inputs))
    if known.causality != "input":
        return f"{path} is of causality {known.causality}: only inputs change at times"
    if known.type not in ("real", "integer", "boolean"):
        return f"{path} is {known.type}: only numbers change at times"
    try:
        if path not in series:
            first = starts.get(path, known.start)
            series[path] = [(-1e300, _number(0.0 if first is None else first, known))]
            types[path], units[path] = known.type, known.unit
        series[path].append((time, _number(value, known)))
    except (TypeError, ValueError) as error:
        return f"{path}: {error}"
    return ""


def _number(value: Any, variable: ParticipantVariable) -> float:
    if isinstance(value, str):
        return cosim.parse_quantity(value, variable.unit)
    if not isinstance(value, (bool, int, float)):
        raise ValueError(f"is {value!r}, needs a number [{variable.unit}]")
    return float(value)
