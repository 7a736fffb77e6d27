"""Values that are given to a component, checked against its declarations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.component.declaration import Declaration
from cosim.errors import ContractError, CosimError, ModelError, Problem, nearest
from cosim.unit_text import coherent
from cosim.units import parse_quantity, parse_unit, unit_of_quantity
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
        self.plain = {n: _Plain(d.shape, *_bounds(d)) for n, d in self.accepted.items() if _is_plain(d)}


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
        values.declarations = _with_lengths(values, problems) if reading.has_free_lengths else declarations
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
    values.numbers[name] = _read_shaped(declaration, value)


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
    array = _without_labels(value)
    return array.copy() if isinstance(array, np.ndarray) else value


def _without_labels(value: Any) -> Any:
    """An array of a column of pandas, of xarray and the like; anything else as it is."""
    if type(value) in (float, str, int):
        return value
    is_other = hasattr(value, "__array__") and not isinstance(value, (np.ndarray, np.generic, type))
    return np.asarray(value) if is_other else value


def given_unit(value: Any) -> str:
    """The unit of the first text with one in a value; empty where there is none."""
    if isinstance(value, str):
        return unit_of_quantity(value)
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(given_unit, value)), "")
    return ""


def _with_lengths(values: Values, problems: list[Problem]) -> Mapping[str, Declaration]:
    """The declarations with the lengths that were given in place of free ones."""
    declarations: dict[str, Declaration] = dict(values.declarations)
    lengths: dict[str, tuple[str, int]] = {}
    for name, declaration in declarations.items():
        if declaration.free_length and name in values.numbers and _says_length(values, declaration):
            _measure(declaration, values.numbers[name], lengths, problems)
    for name, declaration in declarations.items():
        if declaration.free_length:
            axes = zip(declaration.free_length, declaration.shape, strict=True)
            shape = tuple(_length(axis, lengths) if axis else size for axis, size in axes)
            declarations[name] = declaration = replace(declaration, shape=shape)
            if name in values.numbers and not _says_length(values, declaration):
                values.numbers[name] = np.full(shape, values.numbers[name])  # one start value for all
    return declarations


def _says_length(values: Values, declaration: Declaration) -> bool:
    """Whether a value has the free lengths: one number for all elements has not."""
    return values.numbers[declaration.name].ndim > 0


def _measure(
    declaration: Declaration,
    numbers: NDArray[np.float64],
    lengths: dict[str, tuple[str, int]],
    problems: list[Problem],
) -> None:
    """Store the free lengths that a value has; a problem where an earlier value has another length."""
    name = declaration.name
    for axis, size in zip(declaration.free_length, numbers.shape, strict=True):
        if axis:
            base, extra = _axis(axis)
            shown = size if numbers.ndim == 1 else f"the shape {numbers.shape}"
            first, expected = lengths.setdefault(base, (f"{name} has {shown}", size - extra))
            if size - extra != expected:
                elements = "" if numbers.ndim > 1 else " elements"
                text = (
                    f"{name} has {shown}{elements}, {first}: they go together, {expected + extra} is needed"
                )
                problems.append(Problem(name, text))


def _axis(text: str) -> tuple[str, int]:
    """``"order+1"`` as ``("order", 1)``."""
    base, _, extra = text.partition("+")
    return base, int(extra or 0)


def _length(axis: str, lengths: Mapping[str, tuple[str, int]]) -> int:
    base, extra = _axis(axis)
    return lengths.get(base, ("", 0))[1] + extra


_defaults: dict[int, tuple[Declaration, NDArray[np.float64]]] = {}
"""By the id of a declaration, which stays its own since it is held here."""


def _default_numbers(declaration: Declaration) -> NDArray[np.float64]:
    """`_read_shaped` of the default, read once for each declaration."""
    key = id(declaration)
    if key not in _defaults:
        numbers = _read_shaped(declaration, declaration.start)
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


def read_numbers(declaration: Declaration, value: Any) -> NDArray[np.float64]:
    """A value of this declaration as a flat array in SI; ``ValueError`` with a sentence."""
    return _read_shaped(declaration, value).reshape(-1)


def _read_shaped(declaration: Declaration, value: Any) -> NDArray[np.float64]:
    """A value of a declaration whose shape is free, in its own shape."""
    name = declaration.name
    if value is None and declaration.start is not None:
        raise ValueError(f"{name} is None, needs {_expected(declaration)}, or leave it out for its default")
    if value is None:
        raise ValueError(f"{name} is missing; it has no default ({_expected(declaration)})")
    if declaration.convert is not None:
        value = declaration.convert(value)
    array = _as_array(declaration, value)
    if 0 in declaration.shape and array.size and _fits_free(declaration, array):
        declaration = replace(declaration, shape=array.shape)
    array = _in_shape(declaration, array)
    flat: NDArray[np.float64] = np.ascontiguousarray(array, dtype=np.float64).reshape(-1)
    _check_bounds(declaration, flat)
    _check_kind(declaration, value, flat)
    return flat.reshape(array.shape) if declaration.free_length else flat


def _in_shape(declaration: Declaration, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """An array of the declared shape, also from one start value for all elements; `ValueError` for others."""
    each = bool(declaration.options.get("each"))
    if (declaration.kind != "parameter" or each) and array.ndim == 0:
        array = np.full(declaration.shape, array)
    fits = array.shape == declaration.shape or (each and declaration.shape == () and array.ndim == 1)
    fits = fits and not (declaration.free_length and not array.size)
    if not fits and not (array.size == declaration.size == 1 and array.ndim <= 1):
        description = f": {declaration.description}" if declaration.description else ""
        raise ValueError(
            f"{declaration.name} has shape {array.shape}, needs {_expected(declaration)}{description}"
        )
    return array


def _check_kind(declaration: Declaration, value: Any, flat: NDArray[np.float64]) -> None:
    """`ValueError` for numbers that a switch or an integer does not have."""
    if declaration.dtype is bool and np.any((flat != 0.0) & (flat != 1.0)):
        raise ValueError(f"{quote(value)} is not a switch, needs 1 (True) or 0 (False)")
    is_integer = declaration.kind == "integer" or declaration.dtype is int
    if is_integer and (np.any(flat != np.floor(flat)) or np.any(np.abs(flat) > 2.0**53)):
        if choices_of(declaration):
            raise ValueError(_needs_word(declaration, repr(value)))
        raise ValueError(f"{declaration.name} is {quote(value)}, needs an integer (at most 2**53)")


def _fits_free(declaration: Declaration, array: NDArray[np.float64]) -> bool:
    """Whether an array has as many axes as the free shape, or is one number for all where the default is."""
    if array.ndim == 0:
        return declaration.start is not None and np.ndim(declaration.start) == 0
    fixed = zip(array.shape, declaration.shape, strict=False)
    return array.ndim == len(declaration.shape) and all(size == axis for size, axis in fixed if axis)


def _number(declaration: Declaration, item: Any, index: int) -> float:
    """An element of a value as a number in SI: a number, text with a unit, or one of the declared words."""
    units, words = declaration.units, choices_of(declaration)
    if isinstance(item, str) and words:
        if item not in words:
            raise ValueError(_needs_word(declaration, repr(item)))
        return float(words.index(item) + 1)
    if isinstance(item, str):
        return parse_quantity(item, units[index] if len(units) > 1 else units[0])
    is_whole = declaration.kind in ("integer", "discrete") or declaration.dtype is bool
    if isinstance(item, bool) and words:
        raise ValueError(_needs_word(declaration, repr(item)))
    if isinstance(item, bool) and not is_whole:
        raise ValueError(f"{declaration.name} is {quote(item)}, needs a number")
    return float(item)


def _as_array(declaration: Declaration, value: Any) -> NDArray[np.float64]:
    """A value as an array of numbers in SI, in its own shape."""
    value = _without_labels(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return value.astype(np.float64)
    if type(value) is float:
        return np.array(value)
    if isinstance(value, (str, int, float, np.generic)):
        return np.array(_number(declaration, value, 0))
    flat: list[float] = []
    last_unit = len(declaration.units) - 1

    def collect(items: Any) -> Any:
        if isinstance(items, (list, tuple, np.ndarray)):
            return [collect(item) for item in items]
        flat.append(_number(declaration, items, min(len(flat), last_unit)))
        return flat[-1]

    try:
        return np.array(collect(value), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, CosimError) or choices_of(declaration):
            raise
        raise ValueError(f"{declaration.name} is {quote(value)}, needs {_expected(declaration)}") from error


def _check_bounds(declaration: Declaration, flat: NDArray[np.float64]) -> None:
    least, most = _bounds(declaration)
    for index, number in enumerate(flat.tolist()):
        if least <= number <= most and math.isfinite(number):
            continue
        at = declaration.name + (f"[{index}]" if declaration.shape else "")
        never = number == math.inf and declaration.options.get("timer")
        if not math.isfinite(number) and not never:
            raise ValueError(f"{at} is {number}, needs a finite number")
        if choices_of(declaration):
            raise ValueError(_needs_word(declaration, f"{number:g}", at))
        unit = declaration.unit(index)
        says = f"{at} is {number:g}" + ("" if unit == "1" else f" {unit}")
        if declaration.above is not None and number <= declaration.above:
            raise ValueError(f"{says}, needs more than {declaration.above:g}")
        if number < least:
            raise ValueError(f"{says}, needs at least {least:g}")
        if number > most:
            raise ValueError(f"{says}, needs at most {most:g}")


def _bounds(declaration: Declaration) -> tuple[float, float]:
    """The least and the most that is allowed."""
    least = -math.inf if declaration.minimum is None else declaration.minimum
    return least, math.inf if declaration.maximum is None else declaration.maximum


def choices_of(declaration: Declaration) -> tuple[str, ...]:
    """The words that a parameter or port is one of; empty for one that is a number."""
    words: tuple[str, ...] = declaration.options.get("words", ())
    return words


def _needs_word(declaration: Declaration, value: str, at: str = "") -> str:
    listed = ", ".join(map(repr, choices_of(declaration)))
    return f"{at or declaration.name} is {value}, needs one of {listed}"


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


def _expected(declaration: Declaration) -> str:
    unit = "" if set(declaration.units) == {"1"} else f" [{', '.join(dict.fromkeys(declaration.units))}]"
    if choices_of(declaration) and not declaration.shape:
        return f"one of {', '.join(map(repr, choices_of(declaration)))}"
    if 0 in declaration.shape:
        return f"a list of {'numbers' if len(declaration.shape) == 1 else 'rows of numbers'}{unit}"
    return (f"{declaration.shape}" if declaration.shape else "one number") + unit
