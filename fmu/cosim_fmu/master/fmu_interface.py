"""What an FMU declares, read from its model description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cosim
from cosim_fmu.master.fmu_archive import FmuArchive

TYPES = {
    "Real": "real",
    "Integer": "integer",
    "Enumeration": "integer",
    "Boolean": "boolean",
    "String": "string",
}
CAUSALITIES = ("input", "output", "parameter")
EXPONENTS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


@dataclass(frozen=True)
class FmuInterface:
    """Facts of a Co-Simulation FMU that the master and the binding to its library need.

    Attributes
    ----------
    description : ParticipantDescription
        Its `extra` holds: "settable", names that take a start value; "unit_definitions", for each unit name
        that the FMU defines the exponents of kg m s A K mol cd rad, factor and offset to SI;
        "assumed_feedthrough", outputs whose dependencies the FMU does not tell; "only_once", the
        identity of an FMU that may be instantiated once in a process, else "".
    references : dict of str to int
        Value reference of each variable.
    guid, identifier : str
    log_categories : tuple of str
    variable_step : bool
        Whether it declares that it can vary the communication step.
    """

    description: cosim.ParticipantDescription
    references: Mapping[str, int]
    guid: str
    identifier: str
    log_categories: tuple[str, ...]
    variable_step: bool


def read_interface(archive: FmuArchive) -> FmuInterface:
    """Read the model description of a checked archive with fmpy.

    Raises
    ------
    FmuError
        When it cannot be understood. Small offences against the standard that do no harm here
        (units not defined, missing InitialUnknowns, odd variability) are let pass.
    """
    from fmpy import read_model_description

    try:
        read = read_model_description(str(archive.path), validate=False)
        return _interface(read)
    except Exception as error:  # fmpy lets KeyError, TypeError, ValueError … of a bad document through
        raise cosim.FmuError(
            str(archive.path), f"modelDescription.xml cannot be understood: {type(error).__name__}: {error}"
        ) from error


def _interface(read: Any) -> FmuInterface:
    variables = {v.name: _variable(v) for v in read.modelVariables if v.causality != "independent"}
    inputs = frozenset(name for name, v in variables.items() if v.causality == "input")
    feedthrough, assumed = _feedthrough(read, inputs)
    ability = read.coSimulation
    description = cosim.ParticipantDescription(
        kind="FMI 2.0 Co-Simulation",
        variables=variables,
        feedthrough=feedthrough,
        can_restore=ability.canGetAndSetFMUstate,
        follows_slopes=ability.canInterpolateInputs,
        can_serialize=ability.canGetAndSetFMUstate and ability.canSerializeFMUstate,
        extra={
            "settable": frozenset(v.name for v in read.modelVariables if _takes_start(v)),
            "unit_definitions": {u.name: _base_unit(u.baseUnit) for u in read.unitDefinitions if u.baseUnit},
            "assumed_feedthrough": assumed,
            "only_once": read.guid if ability.canBeInstantiatedOnlyOncePerProcess else "",
        },
    )
    return FmuInterface(
        description=description,
        references={v.name: v.valueReference for v in read.modelVariables},
        guid=read.guid or "",
        identifier=ability.modelIdentifier,
        log_categories=tuple(category.name for category in read.logCategories),
        variable_step=ability.canHandleVariableCommunicationStepSize,
    )


def _variable(read: Any) -> cosim.ParticipantVariable:
    declared = read.declaredType
    unit = read.unit or (declared.unit if declared is not None else None) or "1"
    kind = TYPES[read.type]
    return cosim.ParticipantVariable(
        name=read.name,
        causality=read.causality if read.causality in CAUSALITIES else "local",
        type=kind,
        unit=unit,
        start=None if read.start is None else _start(kind, read.start),
        description=read.description or "",
    )


def _start(kind: str, text: str) -> Any:
    if kind == "real":
        return float(text)
    if kind == "integer":
        return int(text)
    if kind == "boolean":
        return text.strip() in ("true", "1")
    return text


def _takes_start(read: Any) -> bool:
    if read.variability == "constant" or read.causality in ("calculatedParameter", "independent"):
        return False
    return read.causality in ("input", "parameter") or read.initial in ("exact", "approx")


def _base_unit(base: Any) -> tuple[tuple[int, ...], float, float]:
    return tuple(getattr(base, name) for name in EXPONENTS), base.factor, base.offset


def _feedthrough(
    read: Any, inputs: frozenset[str]
) -> tuple[dict[str, frozenset[str]] | None, frozenset[str]]:
    """For each output its inputs, and the outputs for which that is only assumed."""
    known: dict[str, frozenset[str]] = {}
    for unknown in read.outputs:
        if unknown.dependencies is not None:
            known[unknown.variable.name] = inputs & {v.name for v in unknown.dependencies}
    outputs = [v.name for v in read.modelVariables if v.causality == "output"]
    assumed = frozenset(outputs) - known.keys()
    if not known:
        return None, assumed
    return {name: known.get(name, inputs) for name in outputs}, assumed
