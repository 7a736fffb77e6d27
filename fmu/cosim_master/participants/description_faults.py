"""What is wrong with the description that a participant gives of itself."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np

import cosim
from cosim.kit import (
    CAUSALITIES,
    TYPES,
    DefaultExperiment,
    ParticipantDescription,
    ParticipantVariable,
)

START_TYPES: dict[str, tuple[type, ...]] = {
    "real": (Real,),
    "integer": (Integral,),
    "boolean": (bool, np.bool_),
    "string": (str,),
    "binary": (bytes, bytearray, str),
}


FLAGS = tuple(f.name for f in fields(ParticipantDescription) if f.type == "bool")
SETS_OF_NAMES = tuple(f.name for f in fields(ParticipantDescription) if str(f.type).startswith("frozenset"))
MAPPINGS = tuple(f.name for f in fields(ParticipantDescription) if str(f.type).startswith("Mapping"))
"""Attributes of a description by their type."""


def description_faults(description: Any) -> list[str]:
    """Sentences about what `Participant.describe` has answered, [] when it can be used.

    Parameters
    ----------
    description : object
    """
    if not isinstance(description, ParticipantDescription):
        return [f"describe returned {description!r:.80}, needs a cosim.kit.ParticipantDescription"]
    faults = []
    if not isinstance(description.kind, str):
        faults.append(f'kind is {description.kind!r:.80}, needs text for people: "heat pump, Python"')
    for name in FLAGS:
        if not isinstance(getattr(description, name), (bool, np.bool_)):
            faults.append(f"{name} is {getattr(description, name)!r:.80}, needs True or False")
    for name in MAPPINGS:
        value = getattr(description, name)
        if not isinstance(value, Mapping) and not (name == "feedthrough" and value is None):
            faults.append(f"{name} is {value!r:.80}, needs a dict")
    if not isinstance(description.default_experiment, DefaultExperiment):
        faults.append(
            f"default_experiment is {description.default_experiment!r:.80}, needs a DefaultExperiment"
        )
    if not isinstance(description.variables, Mapping):
        return faults
    for name, variable in description.variables.items():
        faults += _variable_faults(name, variable)
    if faults:
        return faults
    names = {*description.variables, *description.arrays}
    for name in SETS_OF_NAMES:
        value = getattr(description, name)
        if name == "settable" and value is None:
            continue
        if not isinstance(value, Set):
            faults.append(f'{name} is {value!r:.80}, needs a set of names: frozenset(["x"])')
        else:
            faults += [f"{name}: {_unknown(member, names)}" for member in value if member not in names]
    return faults + _feedthrough_faults(description)


def _variable_faults(name: Any, variable: Any) -> list[str]:
    """Sentences about one of the variables."""
    if not isinstance(variable, ParticipantVariable):
        return [f"variables: {name!r} is {variable!r:.80}, needs a cosim.kit.ParticipantVariable"]
    if variable.name != name or not isinstance(name, str) or not name:
        return [f"variables: {name!r} has the name {variable.name!r}: both are the same text"]
    is_named = variable.causality in CAUSALITIES and variable.type in TYPES and type(variable.unit) is str
    is_fitting = variable.start is None or (type(variable.start) is float and variable.type == "real")
    if is_named and is_fitting and variable.unit:  # as nearly all are
        return []
    faults = []
    for attribute, choices in (("causality", CAUSALITIES), ("type", TYPES)):
        value = getattr(variable, attribute)
        if value not in choices:
            faults.append(f"{name}: {cosim.LookUpError(attribute, str(value), choices)}")
    if not isinstance(variable.unit, str) or not variable.unit:
        faults.append(f'{name}: unit is {variable.unit!r}, needs a unit expression: "N.m/rad", "1" for none')
    expected = START_TYPES.get(variable.type)
    is_odd = variable.type != "boolean" and isinstance(variable.start, (bool, np.bool_))
    if variable.start is not None and expected and (is_odd or not isinstance(variable.start, expected)):
        faults.append(f"{name}: start is {variable.start!r:.80}, needs a value of type {variable.type}")
    return faults


def _feedthrough_faults(description: ParticipantDescription) -> list[str]:
    """Sentences about plain dicts; others may compute their values when these are asked for."""
    faults = []
    all_inputs = dict.fromkeys(name for name, v in description.variables.items() if v.causality == "input")
    sound: set[int] = set()  # one set may stand for many outputs: it is checked once
    for attribute in ("feedthrough", "initial_feedthrough"):
        inputs_of = getattr(description, attribute)
        if type(inputs_of) is not dict:
            continue
        for output, inputs in inputs_of.items():
            if output not in description.variables:
                faults.append(f"{attribute}: {_unknown(output, description.variables)}")
            if id(inputs) in sound:
                continue
            if not isinstance(inputs, Set):
                needs = 'needs a set of inputs: frozenset(["u"])'
                faults.append(f"{attribute} of {output} is {inputs!r:.80}, {needs}")
                continue
            wrong = [name for name in inputs if name not in all_inputs]
            faults += [f"{attribute} of {output}: {_unknown(name, all_inputs, 'input')}" for name in wrong]
            if not wrong:
                sound.add(id(inputs))
    return faults


def _unknown(name: Any, names: Any, what: str = "variable") -> str:
    return str(cosim.LookUpError(what, str(name), names))
