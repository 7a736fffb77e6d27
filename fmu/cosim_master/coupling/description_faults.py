"""What is wrong with what participants say about themselves, their values, tolerances and options."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence, Set
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
    accuracy_fault,
)
from cosim_master.coupling.errors import WiringProblem, problem

PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "real": (Real,),
    "integer": (Integral,),
    "boolean": (bool, np.bool_, int),
    "clock": (bool, np.bool_, int),
    "string": (str,),
    "binary": (bytes, bytearray),
}


def check_values(description: ParticipantDescription, names: Sequence[str], values: Sequence[Any]) -> None:
    """Refuse a value that is not of the type of its variable.

    Raises
    ------
    CosimError
        With a sentence.
    """
    for name, value in zip(names, values, strict=True):
        kind = description.variables[name].type
        if not isinstance(value, PYTHON_TYPES[kind]):
            raise cosim.CosimError(f"get returned {value!r:.80} for {name}, declared as {kind}")


def check_tolerances(
    participants: Mapping[str, Any], common: Any, given: Mapping[str, Any]
) -> tuple[dict[str, float | None], list[WiringProblem]]:
    """The tolerance of each participant, None where it takes its own, and what is wrong."""
    found: dict[str, float | None] = {}
    problems = []
    if common is not None and (fault := accuracy_fault(common)):
        problems.append(problem(("master", "tolerance"), fault))
        common = None
    for name in given:
        if name not in participants:
            text = str(cosim.LookUpError("participant", name, participants))
            problems.append(problem(("participants", name), text))
    for name in participants:
        own = given.get(name, common)
        if own is not None and (fault := accuracy_fault(own)):
            problems.append(problem(("participants", name, "tolerance"), fault))
            own = None
        found[name] = None if own is None else float(own)
    return found, problems


SIMULATOR = ("endless_events", "final_time")  # options that are not the integrator's


def check_options(integrator: str, options: Mapping[str, Any]) -> None:
    """Say now what an integrator does not take.

    Parameters
    ----------
    integrator : str
        Its id.
    options : mapping of str to object
        For its constructor, ``accuracy`` among them, and for the simulator.

    Raises
    ------
    ModelError
        Listing every fault.
    LookUpError
        There is no such integrator.

    Examples
    --------
    >>> check_options("integrators.runge_kutta_4", {"fixed_stp": 1e-3})
    Traceback (most recent call last):
        ...
    cosim.errors.ModelError: options.fixed_stp: no option 'fixed_stp'. Nearest: fixed_step.
    """
    kind = cosim.registry().get("integrator", integrator)
    common = inspect.signature(cosim.Integrator).parameters
    own = [p.name for p in inspect.signature(kind).parameters.values() if p.kind is p.KEYWORD_ONLY]
    known = dict.fromkeys(("integrator", *common, *own, *SIMULATOR))
    unknown = [name for name in options if name not in known]
    if unknown:
        raise cosim.ModelError(
            [cosim.Problem(f"options.{n}", str(cosim.LookUpError("option", n, known))) for n in unknown]
        )
    kind(**{name: value for name, value in options.items() if name not in SIMULATOR})


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
