"""Conditions of ``[[changes]]``: comparisons of variables with values and with each other."""

from __future__ import annotations

import itertools
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
        """The paths of the variables that the condition reads."""
        for comparison in itertools.chain.from_iterable(self.alternatives):
            yield comparison.path
            if comparison.other:
                yield comparison.other

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it is true of these values by path."""
        return any(
            all(comparison.holds(values) for comparison in comparisons) for comparisons in self.alternatives
        )


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
    """The comparison of a text; `ValueError` with a sentence."""
    match = COMPARISON.fullmatch(text)
    if match is None:
        return _boolean(text, descriptions)
    path, sign, right = match.groups()
    variable = _variable(path, descriptions)
    if variable.type not in NUMBERS and sign not in ("==", "!="):
        raise ValueError(f"'{text}': {path} is {variable.type}, which can be compared by == and != only")
    if right.partition(".")[0] in descriptions:
        other = _variable(right, descriptions)
        if (other.type, other.unit) != (variable.type, variable.unit):
            kinds = [f"{v.type} [{v.unit}]" for v in (variable, other)]
            raise ValueError(f"'{text}' compares {kinds[0]} with {kinds[1]}: types and units have to agree")
        return Comparison(path, OPERATORS[sign], None, right)
    value = _value(text, right, variable, descriptions[path.partition(".")[0]])
    return Comparison(path, OPERATORS[sign], value)


def _boolean(text: str, descriptions: Descriptions) -> Comparison:
    """``plant.open`` or ``not plant.open``."""
    before_not, _, name = text.rpartition("not ")
    path = name.strip()
    variable = _variable(path, descriptions)
    if variable.type not in ("boolean", "clock") or before_not.strip():
        raise ValueError(f"'{text}' is not a condition: write 'plant.T > 300 K', or name a boolean")
    return Comparison(path, operator.eq, "not " not in text)


def _variable(path: str, descriptions: Descriptions) -> ParticipantVariable:
    """The variable of a path; ``ValueError`` with the nearest where there is none."""
    participant, _, name = path.partition(".")
    if participant not in descriptions:
        raise ValueError(str(cosim.LookUpError("participant", participant, descriptions)))
    variables = descriptions[participant].variables
    if name not in variables:
        raise ValueError(str(cosim.LookUpError(f"variable of {participant}", name, variables)))
    return variables[name]


def _value(
    text: str, right: str, variable: ParticipantVariable, description: ParticipantDescription
) -> bool | float | str:
    """The value with which a variable is compared, in its unit."""
    if variable.type in ("boolean", "clock"):
        if right.lower() not in LOGICAL:
            raise ValueError(f"'{text}': {variable.name} is a boolean: compare it with true or false")
        return LOGICAL[right.lower()]
    if variable.type == "string":
        if len(right) < 2 or right[0] != right[-1] or right[0] not in "'\"":
            raise ValueError(f"'{text}': {variable.name} is text: put the value in quotes")
        return right[1:-1]
    items = dict(description.enumerations.get(variable.name, ()))
    if right.strip("'\"") in items:
        return items[right.strip("'\"")]
    return float(cosim.parse_quantity(right if _has_unit(right) else float(right), variable.unit))


def _has_unit(right: str) -> bool:
    """Whether it is more than a number."""
    try:
        float(right)
    except ValueError:
        return True
    return False
