"""A parameter set by itself, for scenarios."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import parse_unit
from cosim_master.coupling.quantity import Quantity
from cosim_ssp.package import Package, problem_of
from cosim_ssp.read_parameters import EXPONENTS, open_document, parameter_set
from cosim_ssp.structure import Unit, Value


def read_ssv(path: Path) -> dict[str, tuple[Any, str]]:
    """Values and places of a file, by name.

    Raises
    ------
    ModelError
        With the line that is wrong.
    """
    package = Package(path)
    try:
        document = open_document(package, path.name, package.read(path.name), "ParameterSet")
        values = parameter_set(document)
    except ValueError as error:
        fault = problem_of(str(error))
        raise cosim.ModelError.of(str(path.parent / fault.where), fault.text) from None
    return {value.name: (_scenario_value(value), str(path.parent / value.place)) for value in values}


def _scenario_value(value: Value) -> Any:
    """A value as a scenario may have it."""
    if isinstance(value.data, list):
        return value.data
    if isinstance(value.data, str) and value.items and value.data in value.items:
        return value.items[value.data]
    return value.data if value.unit is None else _quantity(value.data, value.unit)


def _quantity(number: float, unit: Unit) -> Quantity:
    """The number in the unit of the document, or in base units where its name means something else to us."""
    exponents, factor, offset = unit.definition
    try:
        parsed = parse_unit(unit.name)
        same = parsed.exponents == tuple(exponents) and math.isclose(parsed.factor, factor, rel_tol=1e-12)
        if same and math.isclose(parsed.offset, offset, rel_tol=1e-12):
            return Quantity(number, unit.name)
    except cosim.UnitError:
        pass
    base = ".".join(f"{name}{n if n != 1 else ''}" for name, n in zip(EXPONENTS, exponents, strict=True) if n)
    return Quantity(factor * number + offset, base or "1")
