"""Compares what our reader of modelDescription.xml says with what fmpy's reader says of the same document."""

import io
import zipfile
from typing import Any
from xml.etree.ElementTree import Element, tostring

from cosim_fmi.description.model_description import DeclaredVariable, ModelDescription, Unknown

ABILITIES = {
    "identifier": "modelIdentifier",
    "needs_tool": "needsExecutionTool",
    "only_once": "canBeInstantiatedOnlyOncePerProcess",
    "saves": "canGetAndSetFMUstate",
    "serializes": "canSerializeFMUstate",
}
STEPS = {
    "variable_step": "canHandleVariableCommunicationStepSize",
    "interpolates_inputs": "canInterpolateInputs",
    "event_mode": "hasEventMode",
    "intermediate_update": "providesIntermediateUpdate",
}


def read_by_fmpy(root: Element) -> Any:
    """What fmpy makes of the document; None where it refuses it, as it does with small offences."""
    import fmpy

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("modelDescription.xml", tostring(root))
    try:
        return fmpy.read_model_description(file, validate=False)
    except Exception:  # of any kind
        return None


def facts_of_fmpy(read: Any) -> dict[str, Any]:
    """What fmpy has read."""
    first, third = read.fmiVersion == "1.0", read.fmiVersion.startswith("3.")
    steps = read.coSimulation
    units = {unit.name: unit.baseUnit for unit in read.unitDefinitions if unit.baseUnit is not None}
    return {
        "head": (read.guid or "", read.generationTool or "", int(read.numberOfContinuousStates)),
        "name": read.modelName or "",
        "indicators": int(read.numberOfEventIndicators),
        "steps": None if steps is None else [getattr(steps, name) for name in ABILITIES.values()],
        "stepping": None if first or steps is None else [getattr(steps, name) for name in STEPS.values()],
        "exchange": read.modelExchange
        and [*(getattr(read.modelExchange, name) for name in ABILITIES.values())],
        "wants": read.modelExchange and read.modelExchange.needsCompletedIntegratorStep,
        "units": {
            name: (
                base.kg,
                base.m,
                base.s,
                base.A,
                base.K,
                base.mol,
                base.cd,
                base.rad,
                base.factor,
                base.offset,
            )
            for name, base in units.items()
        },
        "categories": [category.name for category in read.logCategories],
        "experiment": read.defaultExperiment
        and [
            getattr(read.defaultExperiment, name)
            for name in ("startTime", "stopTime", "tolerance", "stepSize")
        ],
        "variables": [_variable_of_fmpy(variable, third) for variable in read.modelVariables],
        "outputs": _structure(read.outputs),
        "initial": _structure(read.initialUnknowns),
    }


def _variable_of_fmpy(v: Any, third: bool) -> dict[str, Any]:
    alias_of_input = v.alias is not None and v.causality == "input"
    declared = v.declaredType
    return {
        "name": v.name,
        "of": (v.valueReference, v.type, v.variability),
        "causality": "local" if alias_of_input else v.causality,
        "initial": "calculated" if alias_of_input else v.initial,
        "start": v.start,
        "unit": v.unit,
        "limits": None if v.type.startswith("U") or v.type == "Boolean" else (v.min, v.max, v.nominal),
        "description": v.description,
        "declared": declared
        and (declared.name, declared.unit, declared.min, [i.name for i in declared.items]),
        "shape": v.shape or (),
        "clocks": [clock.name for clock in v.clocks or ()] if third else [],
    }


def _structure(unknowns: Any) -> list[Any]:
    return [
        (u.variable.name, None if u.dependencies is None else [v.name for v in u.dependencies])
        for u in unknowns
    ]


def facts(read: ModelDescription) -> dict[str, Any]:
    """What our reader has read, in the same form."""
    steps, exchange = (read.interfaces.get(interface) for interface in ("CoSimulation", "ModelExchange"))
    run = read.experiment
    return {
        "head": (read.token, read.tool, read.states),
        "name": read.name,
        "indicators": read.indicators,
        "steps": None if steps is None else [getattr(steps, name) for name in ABILITIES],
        "stepping": None
        if read.version == "1.0" or steps is None
        else [getattr(steps, name) for name in STEPS],
        "exchange": exchange and [getattr(exchange, name) for name in ABILITIES],
        "wants": exchange and exchange.wants_steps,
        "units": {name: (*b.exponents, b.factor, b.offset) for name, b in read.base_units.items()},
        "categories": [*read.log_categories],
        "experiment": run and [run.start, run.stop, run.tolerance, run.step],
        "variables": [_variable(variable) for variable in read.variables],
        "outputs": _unknowns(read.outputs),
        "initial": _unknowns(read.initial_unknowns),
    }


def _variable(v: DeclaredVariable) -> dict[str, Any]:
    declared = v.declared_type
    return {
        "name": v.name,
        "of": (v.reference, v.type, v.variability),
        "causality": v.causality,
        "initial": v.initial,
        "start": v.start[0] if isinstance(v.start, tuple) else v.start,
        "unit": v.unit,
        "limits": None
        if v.type.startswith("U") or v.type == "Boolean"
        else (v.minimum, v.maximum, v.nominal),
        "description": v.description,
        "declared": declared
        and (declared.name, declared.unit, declared.minimum, [n for n, _ in declared.items]),
        "shape": v.sizes(),
        "clocks": [clock.name for clock in v.clocks],
    }


def _unknowns(unknowns: list[Unknown]) -> list[Any]:
    return [
        (u.variable.name, None if u.dependencies is None else [v.name for v in u.dependencies])
        for u in unknowns
    ]
