"""Brings model descriptions, as our reader and fmpy's read them, into one form that can be compared."""

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
    """The description that fmpy reads; None if it rejects the document, as it does for small faults."""
    import fmpy

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("modelDescription.xml", tostring(root))
    try:
        return fmpy.read_model_description(file, validate=False)
    except Exception:  # fmpy raises many kinds
        return None


def facts_of_fmpy(description: Any) -> dict[str, Any]:
    """The facts of a description that fmpy has read."""
    is_fmi1, is_fmi3 = description.fmiVersion == "1.0", description.fmiVersion.startswith("3.")
    steps = description.coSimulation
    units = {unit.name: unit.baseUnit for unit in description.unitDefinitions if unit.baseUnit is not None}
    return {
        "head": (
            description.guid or "",
            description.generationTool or "",
            int(description.numberOfContinuousStates),
        ),
        "name": description.modelName or "",
        "indicators": int(description.numberOfEventIndicators),
        "steps": None if steps is None else [getattr(steps, name) for name in ABILITIES.values()],
        "stepping": None if is_fmi1 or steps is None else [getattr(steps, name) for name in STEPS.values()],
        "exchange": description.modelExchange
        and [*(getattr(description.modelExchange, name) for name in ABILITIES.values())],
        "wants": description.modelExchange and description.modelExchange.needsCompletedIntegratorStep,
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
        "categories": [category.name for category in description.logCategories],
        "experiment": description.defaultExperiment
        and [
            getattr(description.defaultExperiment, name)
            for name in ("startTime", "stopTime", "tolerance", "stepSize")
        ],
        "variables": [_variable_of_fmpy(variable, is_fmi3) for variable in description.modelVariables],
        "outputs": _structure(description.outputs),
        "initial": _structure(description.initialUnknowns),
    }


def _variable_of_fmpy(v: Any, is_fmi3: bool) -> dict[str, Any]:
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
        "clocks": [clock.name for clock in v.clocks or ()] if is_fmi3 else [],
    }


def _structure(unknowns: Any) -> list[Any]:
    return [
        (u.variable.name, None if u.dependencies is None else [v.name for v in u.dependencies])
        for u in unknowns
    ]


def facts(description: ModelDescription) -> dict[str, Any]:
    """The facts of a description that our reader has read."""
    steps, exchange = (
        description.interfaces.get(interface) for interface in ("CoSimulation", "ModelExchange")
    )
    experiment = description.experiment
    return {
        "head": (description.token, description.tool, description.states),
        "name": description.name,
        "indicators": description.indicators,
        "steps": None if steps is None else [getattr(steps, name) for name in ABILITIES],
        "stepping": None
        if description.version == "1.0" or steps is None
        else [getattr(steps, name) for name in STEPS],
        "exchange": exchange and [getattr(exchange, name) for name in ABILITIES],
        "wants": exchange and exchange.wants_steps,
        "units": {name: (*b.exponents, b.factor, b.offset) for name, b in description.base_units.items()},
        "categories": [*description.log_categories],
        "experiment": experiment
        and [experiment.start, experiment.stop, experiment.tolerance, experiment.step],
        "variables": [_variable(variable) for variable in description.variables],
        "outputs": _unknowns(description.outputs),
        "initial": _unknowns(description.initial_unknowns),
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
