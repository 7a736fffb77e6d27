"""Values that are given to a component, checked against its declarations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.component.declaration import Declaration
from cosim.component.free_lengths import with_lengths
from cosim.component.read_numbers import bounds_of, choices_of, read_numbers, read_shaped, without_labels
from cosim.errors import ContractError, CosimError, ModelError, Problem, nearest
from cosim.unit_text import coherent
from cosim.units import parse_unit, unit_of_quantity
from cosim.value_text import quote

NUMERIC = ("parameter", "position", "speed", "auxiliary", "discrete", "integer", "input")
GIVEN = (*NUMERIC, "option", "attachment")
REALS = frozenset({float, int})


@dataclass
class Values:
    """The values of a component's parameters, in SI.

    Attributes
    ----------
    numbers : dict of str to ndarray
        Parameters and start values, flat.
    options : dict
    attachments : dict of str to object
        A component, the path of a signal, or None.
    arguments : dict
        As the user typed them: enough to make the component again.
    given_units : dict of str to str
        With which unit the numbers were given of what declares none, without its prefixes.
    typed : dict of str to ndarray
        Those numbers; `numbers` has them in the units that are found when a system is built.
    """

    declarations: Mapping[str, Declaration]
    numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    attachments: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    given_units: dict[str, str] = field(default_factory=dict)
    typed: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def given(self) -> Mapping[str, Any]:
        """`arguments`, read only: a value is changed by an attribute, ``part.stiffness = 400.0``."""
        return MappingProxyType(self.arguments)

    def public(self) -> dict[str, Any]:
        """By name, shaped: scalars as numbers, everything else as read-only arrays."""
        shown: dict[str, Any] = {}
        for name, flat in self.numbers.items():
            shape = self.declarations[name].shape
            if shape or flat.size != 1:
                view = shown[name] = flat.reshape(shape) if shape else flat.view()
                view.flags.writeable = False
            else:
                shown[name] = flat.item()
        shown.update(self.options)
        shown.update(self.attachments)
        return shown


class _Plain(NamedTuple):
    """A declaration whose values, where they are floats within the bounds, are read as they are."""

    shape: tuple[int, ...]
    least: float
    most: float

    def read(self, value: Any) -> NDArray[np.float64] | None:
        """The value as a flat array; None where it takes a closer look."""
        if type(value) is float and not self.shape:
            items: tuple[float, ...] = (value,)
        elif (
            type(value) in (tuple, list)
            and self.shape == (len(value),)
            and REALS.issuperset(map(type, value))
        ):
            items = tuple(map(float, value))
        else:
            return None
        for item in items:
            if not (self.least <= item <= self.most and item - item == 0.0):
                return None
        return np.array(items)


class _Reading:
    """How a component's values are converted; computed once for all parts that share declarations."""

    def __init__(self, declarations: Mapping[str, Declaration]) -> None:
        self.declarations = declarations
        self.accepted = {n: d for n, d in declarations.items() if d.kind in GIVEN}
        self.has_free_lengths = any(declaration.free_length for declaration in declarations.values())
        self.plain = {n: _Plain(d.shape, *bounds_of(d)) for n, d in self.accepted.items() if _is_plain(d)}


_readings: dict[int, _Reading] = {}
"""By the id of the declarations, which stays theirs: a `_Reading` holds them."""


def _reading_of(declarations: Mapping[str, Declaration]) -> _Reading:
    reading = _readings.get(id(declarations))
    if reading is None:
        reading = _readings[id(declarations)] = _Reading(declarations)
    return reading


def read_values(declarations: Mapping[str, Declaration], arguments: Mapping[str, Any]) -> Values:
    """Check everything that was given to a part of these declarations; `ModelError` lists every fault."""
    arguments = {name: own_value(value) for name, value in arguments.items()}
    values, reading = Values(declarations, arguments=arguments), _reading_of(declarations)
    problems: list[Problem] = []
    misspelt: set[str | None] = set()
    for name in arguments:
        if name not in reading.accepted:
            accepted = list(reading.accepted)
            near = nearest(name, accepted)
            misspelt.add(near)
            hint = f"Nearest: {near}." if near else f"There are: {', '.join(sorted(accepted)) or 'none'}."
            problems.append(Problem(name, f"no parameter '{name}'. {hint}"))
    for name, declaration in reading.accepted.items():
        try:
            if declaration.kind == "option":
                values.options[name] = _read_option(declaration, arguments.get(name, declaration.start))
            elif declaration.kind == "attachment":
                values.attachments[name] = _read_attachment(name, arguments.get(name))
            elif name in arguments or name not in misspelt:  # else the misspelt name has been reported
                _add_numbers(values, declaration, name, reading.plain.get(name))
        except (ValueError, TypeError, OverflowError, CosimError) as error:
            problems.append(Problem(name, str(error)))
    if not problems:
        values.declarations = with_lengths(values, problems) if reading.has_free_lengths else declarations
        for name, numbers in values.numbers.items():
            if numbers.ndim != 1:
                values.numbers[name] = numbers.reshape(-1)
    if problems:
        raise ModelError(problems)
    return values


def _add_numbers(values: Values, declaration: Declaration, name: str, plain: _Plain | None) -> None:
    """Read the numbers of a parameter, a start value or an input, with the unit that they were given in."""
    if name not in values.arguments:
        values.numbers[name] = _default_numbers(declaration)
        return
    value = values.arguments[name]
    numbers = None if plain is None else plain.read(value)
    if numbers is not None:  # as most are
        values.numbers[name] = numbers
        return
    unit = given_unit(value) if declaration.unit_rule is not None else ""
    if unit:
        unit = coherent(unit)
        declaration = replace(declaration, units=(unit,), unit_rule=None)
        values.given_units[name] = unit
        values.typed[name] = read_numbers(declaration, value)
    values.numbers[name] = read_shaped(declaration, value)


def _is_plain(declaration: Declaration) -> bool:
    """Whether floats within the bounds are read as they are."""
    is_real = (
        declaration.kind in NUMERIC and declaration.kind != "integer" and declaration.dtype not in (bool, int)
    )
    is_converted = declaration.convert is not None or bool(choices_of(declaration))
    return is_real and not is_converted and len(declaration.shape) < 2 and not declaration.free_length


def own_value(value: Any) -> Any:
    """A copy of an array, a list or a dict, which its owner may change later; anything else as it is."""
    kind = type(value)
    if kind in (float, str, int, bool):
        return value
    if kind in (list, tuple):
        return kind(map(own_value, value))
    if kind is dict:
        return {key: own_value(item) for key, item in value.items()}
    array = without_labels(value)
    return array.copy() if isinstance(array, np.ndarray) else value


def given_unit(value: Any) -> str:
    """The unit of the first text with one in a value; empty where there is none."""
    if isinstance(value, str):
        return unit_of_quantity(value)
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(given_unit, value)), "")
    return ""


_defaults: dict[int, tuple[Declaration, NDArray[np.float64]]] = {}
"""By the id of a declaration, which stays its own since it is held here."""


def _default_numbers(declaration: Declaration) -> NDArray[np.float64]:
    """`read_shaped` of the default, read once for each declaration."""
    key = id(declaration)
    if key not in _defaults:
        numbers = read_shaped(declaration, declaration.start)
        numbers.flags.writeable = False  # all parts share it
        _defaults[key] = declaration, numbers
    return _defaults[key][1]


def check_default(declaration: Declaration) -> None:
    """`ContractError`, with the line of the class, for a default that no component could have."""
    default = declaration.start
    is_open = declaration.unit_rule is not None and bool(given_unit(default))
    if default is None or declaration.convert is not None or declaration.free_length or is_open:
        return
    try:
        read_numbers(declaration.named("default"), default)
    except (ValueError, TypeError, CosimError) as error:
        raise ContractError(f"{declaration.declared_at}: {error}") from error


def _read_option(declaration: Declaration, value: Any) -> Any:
    choices = declaration.options.get("choices")
    if choices is not None and value not in choices:
        raise ValueError(
            f"{declaration.name} is {quote(value)}, needs one of {', '.join(map(repr, choices))}"
        )
    if "unit_of" in declaration.options and isinstance(value, str):
        parse_unit(value)
    if choices is None and type(value) is not type(declaration.start):
        raise ValueError(f"{declaration.name} is {quote(value)}, needs {type(declaration.start).__name__}")
    return value


def _read_attachment(name: str, value: Any) -> Any:
    if value is None or isinstance(value, str) or hasattr(value, "declarations"):
        return value
    raise ValueError(f"{name} is {quote(value)}, needs a part or its name")
