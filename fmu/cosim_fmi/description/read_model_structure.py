"""Reads the model structure of modelDescription.xml: outputs, states, event indicators, dependencies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple
from xml.etree.ElementTree import Element

from cosim_fmi.description.model_description import DeclaredVariable, Unknown


class ModelStructure(NamedTuple):
    """What a model computes, as `ModelDescription` has it."""

    outputs: list[Unknown]
    initial_unknowns: list[Unknown]
    states: int
    indicators: int
    state_variables: tuple[DeclaredVariable, ...]
    rate_variables: tuple[DeclaredVariable, ...]


def read_model_structure(
    root: Element, version: str, variables: Sequence[DeclaredVariable]
) -> ModelStructure:
    """Read the model structure; FMI 1.0 has only counts.

    Parameters
    ----------
    root : Element
    version : str
        "1.0", "2.0" or "3.0".
    variables : sequence of DeclaredVariable
        All that the file declares, in its order.

    Raises
    ------
    ValueError
        With a sentence, where a count cannot be understood.
    """
    by_key = _by_key(variables, version)
    plural = version == "2.0"
    outputs = _unknowns(root, "Outputs/Unknown" if plural else "Output", by_key)
    initial = _unknowns(root, "InitialUnknowns/Unknown" if plural else "InitialUnknown", by_key)
    indicators = int(root.get("numberOfEventIndicators", "0"))
    rates = _rate_variables(root, version, by_key)
    if version == "1.0":
        states = int(root.get("numberOfContinuousStates", "0"))
    elif version == "2.0":
        states = len(root.findall("ModelStructure/Derivatives/Unknown"))
    else:
        states = _count(root, "ContinuousStateDerivative", by_key)
        indicators += _count(root, "EventIndicator", by_key)
    return ModelStructure(outputs, initial, states, indicators, _state_variables(rates, by_key), rates)


def _by_key(variables: Sequence[DeclaredVariable], version: str) -> dict[str, DeclaredVariable]:
    """Variables by what the model structure calls them: places, or value references (FMI 3.0)."""
    if version != "3.0":
        return {str(i): variable for i, variable in enumerate(variables, start=1)}
    return {str(variable.reference): variable for variable in reversed(variables)}


def _unknowns(root: Element, path: str, by_key: Mapping[str, DeclaredVariable]) -> list[Unknown]:
    """The unknowns of the model structure; references to nothing are left out."""
    key = "index" if "/" in path else "valueReference"

    @cache
    def depends(text: str) -> tuple[DeclaredVariable, ...] | None:
        listed = [by_key.get(name) for name in text.split()]
        return None if None in listed else tuple(listed)  # type: ignore[arg-type]

    unknowns = []
    for element in root.findall(f"ModelStructure/{path}"):
        variable = by_key.get(element.get(key, ""))
        if variable is not None:
            text = element.get("dependencies")
            unknowns.append(Unknown(variable, None if text is None else depends(text)))
    return unknowns


def _rate_variables(
    root: Element, version: str, by_key: Mapping[str, DeclaredVariable]
) -> tuple[DeclaredVariable, ...]:
    """The derivatives of the continuous states."""
    if version == "1.0":
        return ()
    path = "Derivatives/Unknown" if version == "2.0" else "ContinuousStateDerivative"
    return tuple(each.variable for each in _unknowns(root, path, by_key))


def _state_variables(
    rates: Sequence[DeclaredVariable], by_key: Mapping[str, DeclaredVariable]
) -> tuple[DeclaredVariable, ...]:
    """The continuous states; none where one of the derivatives does not say whose it is."""
    variables = [by_key.get((rate.derivative_of or "").strip()) for rate in rates]
    return () if None in variables else tuple(variables)  # type: ignore[arg-type]


def _count(root: Element, tag: str, by_key: Mapping[str, DeclaredVariable]) -> int:
    """The total count of numbers of the listed variables."""
    total = 0
    for element in root.findall(f"ModelStructure/{tag}"):
        reference = element.get("valueReference", "").strip()
        if reference not in by_key:
            raise ValueError(f"{tag} refers to {reference!r}, which does not exist")
        total += math.prod(by_key[reference].sizes())
    return total
