"""What is wrong with what a participant says about itself."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np

import cosim
from cosim.kit import CAUSALITIES, TYPES, DefaultExperiment, ParticipantDescription, ParticipantVariable

START_TYPES: dict[str, tuple[type, ...]] = {
    "real": (Real,),
    "integer": (Integral,),
    "boolean": (bool, np.bool_),
    "string": (str,),
    "binary": (bytes, bytearray, str),
}
FLAGS = tuple(f.name for f in fields(ParticipantDescription) if f.type == "bool")
NAMES = tuple(f.name for f in fields(ParticipantDescription) if str(f.type).startswith("frozenset"))
BY_NAME = tuple(f.name for f in fields(ParticipantDescription) if str(f.type).startswith("Mapping"))


def description_faults(found: Any) -> list[str]:
    """Sentences about what `Participant.describe` has answered, [] when it can be used.

    Parameters
    ----------
    found : object
    """
    if not isinstance(found, ParticipantDescription):
        return [f"describe returned {found!r:.80}, needs a cosim.kit.ParticipantDescription"]
    faults = []
    if not isinstance(found.kind, str):
        faults.append(f'kind is {found.kind!r:.80}, needs text for people: "heat pump, Python"')
    for name in FLAGS:
        if not isinstance(getattr(found, name), (bool, np.bool_)):
            faults.append(f"{name} is {getattr(found, name)!r:.80}, needs True or False")
    for name in BY_NAME:
        value = getattr(found, name)
        if not isinstance(value, Mapping) and not (name == "feedthrough" and value is None):
            faults.append(f"{name} is {value!r:.80}, needs a dict")
    if not isinstance(found.default_experiment, DefaultExperiment):
        faults.append(f"default_experiment is {found.default_experiment!r:.80}, needs a DefaultExperiment")
    if not isinstance(found.variables, Mapping):
        return faults
    for name, variable in found.variables.items():
        faults += _of_variable(name, variable)
    if faults:
        return faults
    known = {*found.variables, *found.arrays}
    for name in NAMES:
        value = getattr(found, name)
        if name == "settable" and value is None:
            continue
        if not isinstance(value, Set):
            faults.append(f'{name} is {value!r:.80}, needs a set of names: frozenset(["x"])')
        else:
            faults += [f"{name}: {_unknown(each, known)}" for each in value if each not in known]
    return faults + _of_feedthrough(found)


def _of_variable(name: Any, variable: Any) -> list[str]:
    if not isinstance(variable, ParticipantVariable):
        return [f"variables: {name!r} is {variable!r:.80}, needs a cosim.kit.ParticipantVariable"]
    if variable.name != name or not isinstance(name, str) or not name:
        return [f"variables: {name!r} has the name {variable.name!r}: both are the same text"]
    faults = []
    for what, value, known in (
        ("causality", variable.causality, CAUSALITIES),
        ("type", variable.type, TYPES),
    ):
        if value not in known:
            faults.append(f"{name}: {cosim.LookUpError(what, str(value), known)}")
    if not isinstance(variable.unit, str) or not variable.unit:
        faults.append(f'{name}: unit is {variable.unit!r}, needs a unit expression: "N.m/rad", "1" for none')
    expected = START_TYPES.get(variable.type)
    odd = variable.type != "boolean" and isinstance(variable.start, (bool, np.bool_))
    if variable.start is not None and expected and (odd or not isinstance(variable.start, expected)):
        faults.append(f"{name}: start is {variable.start!r:.80}, needs a value of type {variable.type}")
    return faults


def _of_feedthrough(found: ParticipantDescription) -> list[str]:
    """Of plain dicts; others may compute their values when these are asked for."""
    faults = []
    known = dict.fromkeys(name for name, v in found.variables.items() if v.causality == "input")
    right: set[int] = set()  # of one set that stands for many outputs, once
    for what in ("feedthrough", "initial_feedthrough"):
        given = getattr(found, what)
        if type(given) is not dict:
            continue
        for output, inputs in given.items():
            if output not in found.variables:
                faults.append(f"{what}: {_unknown(output, found.variables)}")
            if id(inputs) in right:
                continue
            if not isinstance(inputs, Set):
                text = f'{what} of {output} is {inputs!r:.80}, needs a set of inputs: frozenset(["u"])'
                faults.append(text)
                continue
            wrong = [name for name in inputs if name not in known]
            faults += [f"{what} of {output}: {_unknown(name, known, 'input')}" for name in wrong]
            if not wrong:
                right.add(id(inputs))
    return faults


def _unknown(name: Any, known: Any, what: str = "variable") -> str:
    return str(cosim.LookUpError(what, str(name), known))
