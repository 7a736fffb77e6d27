"""Participants as they are given, paths, systems or objects, and faults of what they say of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
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
from cosim_fmi.instances import read_fmu
from cosim_master.abilities import Resizes, SharesProcess
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.participants.fmu_participant import FmuParticipant
from cosim_master.participants.instance_participant import InstanceParticipant


def open_fmu(
    path: str | Path,
    name: str | None = None,
    inner_step: float | str | None = None,
    wine: bool = False,
    **options: Any,
) -> InstanceParticipant:
    """A participant for Co-Simulation or Model Exchange (FMI 1.0, 2.0 or 3.0), as the file offers it.

    Where it offers both, its own solver steps it, unless there are options for an integrator. A file that
    is not an FMU makes a participant that says so when it is asked to describe itself.

    Parameters
    ----------
    path : str or Path
    name : str, optional
        Name of the instance; the file's name when not given.
    inner_step : float or str, optional
        Of `FmuParticipant`.
    wine : bool
        Whether its library for Windows runs on Linux, in a process under wine; FMI 2.0 and 3.0.
    **options
        Of `ModelExchangeParticipant`: ``integrator``, ``accuracy`` …
    """
    try:
        interface = read_fmu(Path(path), wine=wine)[1]
    except cosim.FmuError:
        return FmuParticipant(path, name, inner_step, wine)
    if interface.model_exchange or (options and "ModelExchange" in interface.offers):
        if inner_step is not None:
            raise cosim.ModelError.of(
                "options.inner_step", "applies to Co-Simulation: this FMU is integrated by its host"
            )
        # its solver is loaded where it is needed: a process for an FMU with its own begins sooner
        from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

        return ModelExchangeParticipant(path, name, wine=wine, **options)
    if options:
        raise cosim.ModelError.of("options", "an FMU that offers Co-Simulation only takes inner_step alone")
    return FmuParticipant(path, name, inner_step, wine)


def create_participants(
    given: Mapping[str, Any], problems: list[WiringProblem]
) -> dict[str, cosim.Participant]:
    """A participant for each name; what cannot be one is added to the problems."""
    made: dict[str, cosim.Participant] = {}
    for name, what in given.items():
        key = ("participants", name)
        if not name or "." in name:
            problems.append(problem(key, "the name of a participant is not empty and has no dots"))
        elif isinstance(what, cosim.Participant) or _has_contract(what):
            if any(what is other for other in made.values()):
                problems.append(
                    problem(key, "is the same object as another participant: make one for each name")
                )
            made[name] = what
        elif isinstance(what, (str, Path)):
            made[name] = open_fmu(what, name)
        elif isinstance(what, (cosim.System, cosim.Model)):
            from cosim_master.participants.system_participant import SystemParticipant  # with the Step

            try:
                made[name] = SystemParticipant(what)
            except cosim.ModelError as error:
                problems += [problem((*key, fault.where), fault.text) for fault in error.problems]
        elif callable(getattr(what, "describe", None)):
            missing = sorted(n for n in cosim.Participant.__abstractmethods__ if not hasattr(what, n))
            text = f"is a {type(what).__name__}, which has no {', '.join(missing)}: a participant needs that"
            problems.append(problem(key, text))
        else:
            text = f"is a {type(what).__name__}, needs the path of an FMU, a System, a Model or a Participant"
            problems.append(problem(key, text))
    places: dict[Any, Any] = {}
    for participant in made.values():
        if isinstance(participant, SharesProcess):
            participant.share_process(places)
    return made


def configure(participants: Mapping[str, cosim.Participant], starts: Mapping[str, Any]) -> None:
    """Tell start values to participants whose arrays have the sizes that they say."""
    for name, participant in participants.items():
        own = {k.partition(".")[2]: v for k, v in starts.items() if k.partition(".")[0] == name}
        sizes = {k: v for k, v in own.items() if isinstance(v, int) and not isinstance(v, bool) and v >= 0}
        if isinstance(participant, Resizes) and sizes:
            with suppress(cosim.FmuError):  # `describe` says it
                participant.configure(sizes)


def described(
    participants: Mapping[str, cosim.Participant], problems: list[WiringProblem]
) -> dict[str, ParticipantDescription]:
    """The description of each participant that gives a sound one; faults are added to the problems."""
    descriptions = {}
    for name, participant in participants.items():
        try:
            description = participant.describe()
        except cosim.FmuError as error:
            problems.append(problem(("participants", name), str(error), error))
        except Exception as error:
            problems.append(
                problem(("participants", name), f"cannot describe itself: {type(error).__name__}: {error}")
            )
        else:
            faults = description_faults(description)
            problems += [problem(("participants", name), fault) for fault in faults]
            if not faults:
                descriptions[name] = description
    return descriptions


def _has_contract(what: Any) -> bool:
    """Whether an object has all methods of a Participant, whatever it derives from."""
    return all(callable(getattr(what, name, None)) for name in cosim.Participant.__abstractmethods__)


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
    is_named = variable.causality in CAUSALITIES and variable.type in TYPES and type(variable.unit) is str
    is_fitting = variable.start is None or (type(variable.start) is float and variable.type == "real")
    if is_named and is_fitting and variable.unit:  # as nearly all are
        return []
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
