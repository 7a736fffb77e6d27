"""Values that are given to a component, checked against its declarations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.declarations import Declaration
from cosim.errors import CosimError, ModelError, Problem, nearest
from cosim.unit_text import coherent
from cosim.units import parse_quantity, parse_unit, unit_of_quantity

NUMERIC = ("parameter", "position", "speed", "auxiliary", "discrete", "integer", "input")


@dataclass
class Values:
    """What a component was given, in SI.

    Attributes
    ----------
    numbers : dict of str to ndarray
        Parameters and start values, flat.
    options : dict
    attachments : dict of str to object
        A component, the path of a signal, or None.
    given : dict
        As the user typed it: enough to make the component again.
    given_units : dict of str to str
        With which unit the numbers were given of what declares none, without its prefixes.
    typed : dict of str to ndarray
        Those numbers; `numbers` has them in the units that are found when a system is built.
    """

    declarations: Mapping[str, Declaration]
    numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    attachments: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    given_units: dict[str, str] = field(default_factory=dict)
    typed: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def public(self) -> dict[str, Any]:
        """By name, shaped: scalars as numbers, everything else as arrays."""
        shown: dict[str, Any] = {}
        for name, flat in self.numbers.items():
            shape = self.declarations[name].shape
            shown[name] = flat.reshape(shape) if shape else float(flat[0]) if flat.size == 1 else flat
        return {**shown, **self.options, **self.attachments}


def read_values(declarations: Mapping[str, Declaration], given: Mapping[str, Any]) -> Values:
    """Check everything that was given; `ModelError` lists every fault."""
    values = Values(declarations, given=dict(given))
    problems: list[Problem] = []
    accepted = [n for n, d in declarations.items() if d.kind in NUMERIC or d.kind in ("option", "attachment")]
    meant: set[str | None] = set()
    for name in given:
        if name not in accepted:
            near = nearest(name, accepted)
            meant.add(near)
            hint = f"Nearest: {near}." if near else f"There are: {', '.join(sorted(accepted)) or 'none'}."
            problems.append(Problem(name, f"no parameter '{name}'. {hint}"))
    for name, declaration in declarations.items():
        try:
            if declaration.kind in NUMERIC:
                if name in meant and name not in given:
                    continue  # said already, as the misspelt name
                unit = given_unit(given.get(name)) if declaration.unit_rule is not None else ""
                if unit:
                    unit = coherent(unit)
                    declaration = replace(declaration, units=(unit,), unit_rule=None)
                    values.given_units[name] = unit
                    values.typed[name] = read_numbers(declaration, given[name])
                values.numbers[name] = (
                    read_numbers(declaration, given[name]) if name in given else _default_numbers(declaration)
                )
            elif declaration.kind == "option":
                values.options[name] = _read_option(declaration, given.get(name, declaration.start))
            elif declaration.kind == "attachment":
                values.attachments[name] = _read_attachment(name, given.get(name))
        except (ValueError, TypeError, CosimError) as error:
            problems.append(Problem(name, str(error)))
    if not problems:
        values.declarations = _with_lengths(values, problems)
    if problems:
        raise ModelError(problems)
    return values


def given_unit(value: Any) -> str:
    """The unit of the first text with one in a value; empty where there is none."""
    if isinstance(value, str):
        return unit_of_quantity(value)
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(given_unit, value)), "")
    return ""


def _with_lengths(values: Values, problems: list[Problem]) -> Mapping[str, Declaration]:
    """The declarations with the lengths that were given in place of free ones."""
    if not any(declaration.free_length for declaration in values.declarations.values()):
        return values.declarations
    declarations: dict[str, Declaration] = dict(values.declarations)
    lengths: dict[str, tuple[str, int]] = {}
    for name, declaration in declarations.items():
        if declaration.free_length and name in values.numbers:
            size = values.numbers[name].size
            first, expected = lengths.setdefault(declaration.free_length, (name, size))
            if size != expected:
                problems.append(
                    Problem(name, f"{name} has {size} elements, {first} has {expected}: they go together")
                )
    for name, declaration in declarations.items():
        if declaration.free_length:
            length = lengths.get(declaration.free_length, ("", 0))[1]
            declarations[name] = replace(declaration, shape=(length,))
    return declarations


_defaults: dict[int, tuple[Declaration, NDArray[np.float64]]] = {}


def _default_numbers(declaration: Declaration) -> NDArray[np.float64]:
    """`read_numbers` of the default, read once for each declaration."""
    key = id(declaration)
    if key not in _defaults:
        _defaults[key] = declaration, read_numbers(declaration, declaration.start)
    return _defaults[key][1].copy()


def read_numbers(declaration: Declaration, value: Any) -> NDArray[np.float64]:
    """A value of this declaration as a flat array in SI; ``ValueError`` with a sentence."""
    name = declaration.name
    if value is None:
        raise ValueError(f"{name} is missing; it has no default ({_expected(declaration)})")
    if declaration.convert is not None:
        value = declaration.convert(value)
    array = _as_array(declaration, value)
    each = bool(declaration.options.get("each"))
    if declaration.free_length and declaration.shape == (0,) and array.ndim == 1 and array.size:
        declaration = replace(declaration, shape=array.shape)
    if (declaration.kind != "parameter" or each) and array.ndim == 0:
        array = np.full(declaration.shape, array)  # one start value for all elements
    fits = array.shape == declaration.shape or (each and declaration.shape == () and array.ndim == 1)
    if not fits and not (array.size == declaration.size == 1):
        more = f": {declaration.description}" if declaration.description else ""
        raise ValueError(f"{name} has shape {array.shape}, needs {_expected(declaration)}{more}")
    flat: NDArray[np.float64] = np.ascontiguousarray(array, dtype=np.float64).reshape(-1)
    _check_bounds(declaration, flat)
    if declaration.dtype is bool and np.any((flat != 0.0) & (flat != 1.0)):
        raise ValueError(f"{value!r} is no switch, needs 1 (True) or 0 (False)")
    if (declaration.kind == "integer" or declaration.dtype is int) and (
        np.any(flat != np.floor(flat)) or np.any(np.abs(flat) > 2.0**53)
    ):
        raise ValueError(f"{name} is {value!r}, needs an integer (at most 2**53)")
    return flat


def _as_array(declaration: Declaration, value: Any) -> NDArray[np.float64]:
    units = declaration.units

    def number(item: Any, index: int) -> float:
        if isinstance(item, str):
            return parse_quantity(item, units[index] if len(units) > 1 else units[0])
        is_whole = declaration.kind in ("integer", "discrete") or declaration.dtype is bool
        if isinstance(item, bool) and not is_whole:
            raise ValueError(f"{declaration.name} is {item!r}, needs a number")
        return float(item)

    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return value.astype(np.float64)
    if isinstance(value, (str, int, float, np.generic)):
        return np.array(number(value, 0))
    flat: list[float] = []

    def collect(items: Any) -> Any:
        if isinstance(items, (list, tuple, np.ndarray)):
            return [collect(item) for item in items]
        flat.append(number(items, min(len(flat), len(units) - 1)))
        return flat[-1]

    try:
        return np.array(collect(value), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, CosimError):
            raise
        raise ValueError(f"{declaration.name} is {value!r}, needs {_expected(declaration)}") from error


def _check_bounds(declaration: Declaration, flat: NDArray[np.float64]) -> None:
    least = -math.inf if declaration.minimum is None else declaration.minimum
    most = math.inf if declaration.maximum is None else declaration.maximum
    for index, number in enumerate(flat.tolist()):
        if least <= number <= most and math.isfinite(number):
            continue
        at = declaration.name + (f"[{index}]" if declaration.shape else "")
        never = number == math.inf and declaration.options.get("timer")
        if not math.isfinite(number) and not never:
            raise ValueError(f"{at} is {number}, needs a finite number")
        if declaration.above is not None and number <= declaration.above:
            raise ValueError(
                f"{at} is {number:g} {declaration.unit(index)}, needs more than {declaration.above:g}"
            )
        if number < least:
            raise ValueError(f"{at} is {number:g} {declaration.unit(index)}, needs at least {least:g}")
        if number > most:
            raise ValueError(f"{at} is {number:g} {declaration.unit(index)}, needs at most {most:g}")


def _read_option(declaration: Declaration, value: Any) -> Any:
    choices = declaration.options.get("choices")
    if choices is not None and value not in choices:
        raise ValueError(f"{declaration.name} is {value!r}, needs one of {', '.join(map(repr, choices))}")
    if "unit_of" in declaration.options and isinstance(value, str):
        parse_unit(value)
    if choices is None and type(value) is not type(declaration.start):
        raise ValueError(f"{declaration.name} is {value!r}, needs {type(declaration.start).__name__}")
    return value


def _read_attachment(name: str, value: Any) -> Any:
    if value is None or isinstance(value, str) or hasattr(value, "declarations"):
        return value
    raise ValueError(f"{name} is {value!r}, needs a part or its name")


def _expected(declaration: Declaration) -> str:
    unit = "" if set(declaration.units) == {"1"} else f" [{', '.join(dict.fromkeys(declaration.units))}]"
    if declaration.shape == (0,):
        return f"a list of numbers{unit}"
    return (f"{declaration.shape}" if declaration.shape else "one number") + unit
