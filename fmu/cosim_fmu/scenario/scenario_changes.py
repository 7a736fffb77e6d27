"""``[[changes]]`` of a scenario: inputs and parameters that get other values at times, on conditions."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_fmu.scenario.scenario_variant import flat
from cosim_master.coupling.connection import Connection
from cosim_master.participants.timed_inputs import SEEN, Changes, Trigger, TriggeredChanges
from cosim_toml.toml_lines import KeyPath

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
COMPARISON = re.compile(r"(.+?)\s*(>=|<=|==|!=|>|<)\s*(.+)")
NUMBERS = ("real", "integer")
LOGICAL = {"true": True, "false": False}

Descriptions = Mapping[str, ParticipantDescription]


class Comparison(NamedTuple):
    """``path operator value``.

    Attributes
    ----------
    path : str
    compare : callable
    value : object
        In the unit of the variable.
    other : str
        Path of the variable to compare with, in place of a value.
    """

    path: str
    compare: Callable[[Any, Any], bool]
    value: Any
    other: str = ""

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it is true of these values by path."""
        return self.compare(values[self.path], values[self.other] if self.other else self.value)


class Condition(NamedTuple):
    """Comparisons joined by ``and`` and ``or``; ``and`` binds closer.

    Attributes
    ----------
    alternatives : tuple of tuple of Comparison
        One of them holds when all of its comparisons do.
    """

    alternatives: tuple[tuple[Comparison, ...], ...]

    @property
    def paths(self) -> Iterator[str]:
        """What it reads."""
        for each in (each for comparisons in self.alternatives for each in comparisons):
            yield from (each.path, each.other) if each.other else (each.path,)

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it is true of these values by path."""
        return any(all(each.holds(values) for each in comparisons) for comparisons in self.alternatives)


def parse_condition(text: str, descriptions: Descriptions) -> Condition:
    """Read a condition.

    Parameters
    ----------
    text : str
        ``"plant.T > 300 K and not plant.open"``: a number may have a unit, text stands in quotes.
    descriptions : mapping of str to ParticipantDescription

    Raises
    ------
    ValueError
        It is not a condition, or is about a variable that there is not.
    """
    return Condition(
        tuple(
            tuple(_comparison(part, descriptions) for part in re.split(r"\s+and\s+", alternative.strip()))
            for alternative in re.split(r"\s+or\s+", text)
        )
    )


def _comparison(text: str, descriptions: Descriptions) -> Comparison:
    match = COMPARISON.fullmatch(text)
    if match is None:
        is_negated, _, name = text.rpartition("not ")
        path = name.strip()
        variable = _variable(path, descriptions)
        if variable.type not in ("boolean", "clock") or (is_negated and is_negated.strip()):
            raise ValueError(f"'{text}' is not a condition: write 'plant.T > 300 K', or name a boolean")
        return Comparison(path, operator.eq, "not " not in text)
    path, sign, given = match.groups()
    variable = _variable(path, descriptions)
    if variable.type not in NUMBERS and sign not in ("==", "!="):
        raise ValueError(f"'{text}': {path} is {variable.type}, which can be compared by == and != only")
    if given.partition(".")[0] in descriptions:
        other = _variable(given, descriptions)
        if (other.type, other.unit) != (variable.type, variable.unit):
            kinds = [f"{v.type} [{v.unit}]" for v in (variable, other)]
            raise ValueError(f"'{text}' compares {kinds[0]} with {kinds[1]}: types and units have to agree")
        return Comparison(path, OPERATORS[sign], None, given)
    return Comparison(
        path, OPERATORS[sign], _value(text, given, variable, descriptions[path.partition(".")[0]])
    )


def _variable(path: str, descriptions: Descriptions) -> ParticipantVariable:
    participant, _, name = path.partition(".")
    if participant not in descriptions:
        raise ValueError(str(cosim.LookUpError("participant", participant, descriptions)))
    variables = descriptions[participant].variables
    if name not in variables:
        raise ValueError(str(cosim.LookUpError(f"variable of {participant}", name, variables)))
    return variables[name]


def _value(
    text: str, given: str, variable: ParticipantVariable, description: ParticipantDescription
) -> bool | float | str:
    """What a variable is compared with, in its unit."""
    if variable.type in ("boolean", "clock"):
        if given.lower() not in LOGICAL:
            raise ValueError(f"'{text}': {variable.name} is a boolean: compare it with true or false")
        return LOGICAL[given.lower()]
    if variable.type == "string":
        if len(given) < 2 or given[0] != given[-1] or given[0] not in "'\"":
            raise ValueError(f"'{text}': {variable.name} is text: put the value in quotes")
        return given[1:-1]
    items = dict(description.enumerations.get(variable.name, ()))
    if given.strip("'\"") in items:
        return items[given.strip("'\"")]
    return float(cosim.parse_quantity(given if _has_unit(given) else float(given), variable.unit))


def _has_unit(given: str) -> bool:
    try:
        float(given)
    except ValueError:
        return True
    return False


KEYS = ("at", "when", "set")
NAME = "changes"
"""Of the participant that gives the values."""
FORM = 'at = "1 s" (or when = "plant.T > 300") and set = { "plant.u" = 3.0 }'

Say = Callable[[KeyPath, str], None]


def make_changes(
    entries: Any, participants: Mapping[str, cosim.Participant], starts: Mapping[str, Any], say: Say
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
    say : callable
        Takes the key and the text of a problem.
    """
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        say((NAME,), f"needs a list of tables: [[changes]] with {FORM}")
        return None, []
    changed = Changed()
    triggers: list[Trigger] = []
    watched: dict[str, ParticipantVariable] = {}
    for i, entry in enumerate(entries):
        for key in entry:
            if key not in KEYS:
                say((NAME, i, key), str(cosim.LookUpError("key", key, KEYS)))
        try:
            values = flat(entry["set"])
            if "when" in entry:
                if "at" in entry:
                    raise ValueError("it has both 'when' and 'at': write two changes")
                descriptions = _described(participants)
                condition = parse_condition(str(entry["when"]), descriptions)
                numbers = changed.add(values, None, participants, starts, partial(say, (NAME, i)))
                triggers.append(Trigger(f"{NAME}[{i}]", str(entry["when"]), condition, numbers))
                for path in condition.paths:
                    participant, _, name = path.partition(".")
                    watched[path] = descriptions[participant].variables[name]
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


class Changed:
    """What changes, by path: its values over time, its type and its unit; and whose start is unknown."""

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
                        if first is None and variable.causality == "parameter":
                            self.unknown.add(path)
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
