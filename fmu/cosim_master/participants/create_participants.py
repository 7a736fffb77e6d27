"""Participants from paths, systems or objects, and their descriptions, which are checked."""

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


def open_fmu(
    path: str | Path,
    name: str | None = None,
    inner_step: float | str | None = None,
    wine: bool = False,
    **options: Any,
) -> InstanceParticipant:
    """A participant for Co-Simulation or Model Exchange (FMI 1.0, 2.0 or 3.0), as the file offers it.

    Where it offers both, its own solver steps it, unless there are options for an integrator. For a file that
    is not an FMU, `describe` of the participant raises the error.

    Parameters
    ----------
    path : str or Path
    name : str, optional
        Name of the instance; by default the file's name.
    inner_step : float or str, optional
        The option of `FmuParticipant`.
    wine : bool
        Whether its library for Windows runs on Linux, in a process under wine; FMI 2.0 and 3.0.
    **options
        Of `ModelExchangeParticipant`: ``integrator``, ``accuracy`` …
    """
    try:
        interface = read_fmu(Path(path), wine=wine)[1]
    except cosim.FmuError:
        return FmuParticipant(path, name, inner_step, wine)
    if interface.is_model_exchange or (options and "ModelExchange" in interface.interfaces):
        if inner_step is not None:
            raise cosim.ModelError.of(
                "options.inner_step", "applies to Co-Simulation: this FMU is integrated by its host"
            )
        # imported here, so that a process for an FMU with its own solver starts faster
        from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

        return ModelExchangeParticipant(path, name, wine=wine, **options)
    if options:
        raise cosim.ModelError.of(
            "options", "an FMU that offers only Co-Simulation has one option, inner_step"
        )
    return FmuParticipant(path, name, inner_step, wine)


def create_participants(
    objects: Mapping[str, Any],
) -> tuple[dict[str, cosim.Participant], list[WiringProblem]]:
    """A participant for each name, and the problems of objects that cannot be one."""
    participants: dict[str, cosim.Participant] = {}
    problems: list[WiringProblem] = []
    for name, value in objects.items():
        key = ("participants", name)
        if not name or "." in name:
            problems.append(problem(key, "the name of a participant is not empty and has no dots"))
        elif isinstance(value, cosim.Participant) or _has_contract(value):
            if any(value is participant for participant in participants.values()):
                text = "is the same object as another participant: make one for each name"
                problems.append(problem(key, text))
            participants[name] = value
        elif isinstance(value, (str, Path)):
            participants[name] = open_fmu(value, name)
        elif isinstance(value, (cosim.System, cosim.Model)):
            from cosim_master.participants.system_participant import SystemParticipant  # with the Step

            try:
                participants[name] = SystemParticipant(value)
            except cosim.ModelError as error:
                problems += [problem((*key, fault.where), fault.text) for fault in error.problems]
        else:
            problems.append(problem(key, _refusal(value)))
    processes: dict[Any, Any] = {}  # by host
    for participant in participants.values():
        if isinstance(participant, SharesProcess):
            participant.share_process(processes)
    return participants, problems


def _has_contract(value: Any) -> bool:
    """Whether an object has all methods of a Participant, whatever it derives from."""
    return all(callable(getattr(value, name, None)) for name in cosim.Participant.__abstractmethods__)


def _refusal(value: Any) -> str:
    """Why an object cannot be a participant."""
    kind = type(value).__name__
    if callable(getattr(value, "describe", None)):
        missing = sorted(n for n in cosim.Participant.__abstractmethods__ if not hasattr(value, n))
        return f"is a {kind}, which has no {', '.join(missing)}: a participant needs that"
    return f"is a {kind}, needs the path of an FMU, a System, a Model or a Participant"


def configure_sizes(participants: Mapping[str, cosim.Participant], starts: Mapping[str, Any]) -> None:
    """Pass whole start values to participants whose arrays take their sizes from them."""
    for name, participant in participants.items():
        sizes = {
            path.removeprefix(f"{name}."): value
            for path, value in starts.items()
            if path.partition(".")[0] == name
            and isinstance(value, int)
            and not isinstance(value, bool)
            and value >= 0
        }
        if isinstance(participant, Resizes) and sizes:
            with suppress(cosim.FmuError):  # `describe` raises it again
                participant.configure(sizes)


def describe_participants(
    participants: Mapping[str, cosim.Participant],
) -> tuple[dict[str, ParticipantDescription], list[WiringProblem]]:
    """The sound descriptions, and the problems of the others."""
    descriptions: dict[str, ParticipantDescription] = {}
    problems: list[WiringProblem] = []
    for name, participant in participants.items():
        key = ("participants", name)
        try:
            description = participant.describe()
        except cosim.FmuError as error:
            problems.append(problem(key, str(error), error))
        except Exception as error:
            problems.append(problem(key, f"cannot describe itself: {type(error).__name__}: {error}"))
        else:
            faults = description_faults(description)
            problems += [problem(key, fault) for fault in faults]
            if not faults:
                descriptions[name] = description
    return descriptions, problems


def description_faults(description: Any) -> list[str]:
    """Sentences about the faults of a result of `Participant.describe`; [] if it is sound.

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
    """Sentences about the faults of a variable."""
    if not isinstance(variable, ParticipantVariable):
        return [f"variables: {name!r} is {variable!r:.80}, needs a cosim.kit.ParticipantVariable"]
    if variable.name != name or not isinstance(name, str) or not name:
        return [f"variables: {name!r} has the name {variable.name!r}: both are the same text"]
    is_named = variable.causality in CAUSALITIES and variable.type in TYPES and type(variable.unit) is str
    is_fitting = variable.start is None or (type(variable.start) is float and variable.type == "real")
    if is_named and is_fitting and variable.unit:  # true of nearly all: the checks below are slower
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
    """Sentences about feedthrough in plain dicts; other mappings may compute values when they are read."""
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


def _unknown(name: Any, names: Any, role: str = "variable") -> str:
    return str(cosim.LookUpError(role, str(name), names))
