"""Conditions on values, as ``[[changes]]`` has them: ``plant.T > 300 K and plant.open``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable

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
        It is no condition, or is about a variable that there is not.
    """
    return Condition(
        tuple(
            tuple(_comparison(part, descriptions) for part in re.split(r"\s+and\s+", alternative.strip()))
            for alternative in re.split(r"\s+or\s+", text)
        )
    )


def _comparison(text: str, descriptions: Descriptions) -> Comparison:
    found = COMPARISON.fullmatch(text)
    if found is None:
        is_negated, _, name = text.rpartition("not ")
        path = name.strip()
        variable = _variable(path, descriptions)
        if variable.type not in ("boolean", "clock") or (is_negated and is_negated.strip()):
            raise ValueError(f"'{text}' is no condition: write 'plant.T > 300 K', or a boolean")
        return Comparison(path, operator.eq, "not " not in text)
    path, sign, given = found.groups()
    variable = _variable(path, descriptions)
    if variable.type not in NUMBERS and sign not in ("==", "!="):
        raise ValueError(f"'{text}': {path} is {variable.type}, which is compared by == and != alone")
    if given.partition(".")[0] in descriptions:
        other = _variable(given, descriptions)
        if (other.type, other.unit) != (variable.type, variable.unit):
            kinds = [f"{v.type} [{v.unit}]" for v in (variable, other)]
            raise ValueError(f"'{text}' compares {kinds[0]} with {kinds[1]}: they have to agree")
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
            raise ValueError(f"'{text}': {variable.name} is boolean, needs true or false")
        return LOGICAL[given.lower()]
    if variable.type == "string":
        if len(given) < 2 or given[0] != given[-1] or given[0] not in "'\"":
            raise ValueError(f"'{text}': {variable.name} is text, needs it in quotes")
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
