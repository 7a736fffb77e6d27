"""Reads modelDescription.xml of FMI 1.0, 2.0 and 3.0.

Small offences against the standard that do no harm are let pass: parameters without a variability, lists with
blanks too many, dependencies on what is not there, types that are not defined or have attributes of others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from xml.etree.ElementTree import Element

from cosim_fmi.description.model_description import (
    Abilities,
    BaseUnit,
    DeclaredExperiment,
    DeclaredVariable,
    ModelDescription,
    Unknown,
)
from cosim_fmi.description.read_variables import read_variables

EXPONENTS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def read_model_description(root: Element) -> ModelDescription:
    """What a model description says.

    Parameters
    ----------
    root : Element
        Of a checked document (`FmuArchive.take_description`).

    Raises
    ------
    ValueError
        With a sentence, where it cannot be understood.
    """
    version = root.get("fmiVersion", "")
    version = "3.0" if version.startswith("3.") else version
    if version not in ("1.0", "2.0", "3.0"):
        raise ValueError(f"FMI version {version!r} is not known")
    variables = read_variables(root, version)
    by_key = _by_key(variables, version)
    listed = {"Outputs": "Output", "InitialUnknowns": "InitialUnknown"}
    outputs, initial = (
        _unknowns(root, f"{plural}/Unknown" if version == "2.0" else one, by_key)
        for plural, one in listed.items()
    )
    indicators = int(root.get("numberOfEventIndicators", "0"))
    if version == "1.0":
        states = int(root.get("numberOfContinuousStates", "0"))
    elif version == "2.0":
        states = len(root.findall("ModelStructure/Derivatives/Unknown"))
    else:
        states = _count(root, "ContinuousStateDerivative", by_key)
        indicators += _count(root, "EventIndicator", by_key)
    return ModelDescription(
        version=version,
        token=root.get("instantiationToken" if version == "3.0" else "guid", ""),
        name=root.get("modelName", ""),
        tool=root.get("generationTool", ""),
        co_simulation=_abilities(root, "CoSimulation", version),
        model_exchange=_abilities(root, "ModelExchange", version),
        variables=variables,
        outputs=outputs,
        initial_unknowns=initial,
        states=states,
        indicators=indicators,
        base_units=_base_units(root),
        log_categories=tuple(each.get("name", "") for each in root.findall("LogCategories/Category")),
        experiment=_experiment(root),
    )


def _by_key(variables: Sequence[DeclaredVariable], version: str) -> dict[str, DeclaredVariable]:
    """Variables by what the model structure calls them: places, or value references (FMI 3.0)."""
    if version != "3.0":
        return {str(i): variable for i, variable in enumerate(variables, start=1)}
    return {str(variable.reference): variable for variable in reversed(variables)}


def _unknowns(root: Element, path: str, by_key: Mapping[str, DeclaredVariable]) -> list[Unknown]:
    """What the model structure lists; what points nowhere is left out."""
    key = "index" if "/" in path else "valueReference"

    @cache
    def depends(text: str) -> tuple[DeclaredVariable, ...] | None:
        listed = [by_key.get(name) for name in text.split()]
        return None if None in listed else tuple(listed)  # type: ignore[arg-type]

    found = []
    for element in root.findall(f"ModelStructure/{path}"):
        variable = by_key.get(element.get(key, ""))
        if variable is not None:
            text = element.get("dependencies")
            found.append(Unknown(variable, None if text is None else depends(text)))
    return found


def _count(root: Element, tag: str, by_key: Mapping[str, DeclaredVariable]) -> int:
    """How many numbers the listed variables have."""
    total = 0
    for element in root.findall(f"ModelStructure/{tag}"):
        reference = element.get("valueReference", "").strip()
        if reference not in by_key:
            raise ValueError(f"{tag} refers to {reference!r}, which is not there")
        total += math.prod(by_key[reference].sizes())
    return total


def _abilities(root: Element, interface: str, version: str) -> Abilities | None:
    """Those of an interface, None where it is not offered."""
    if version == "1.0":
        implemented = root.find("Implementation")
        if (implemented is not None) != (interface == "CoSimulation"):
            return None
        identifier = root.get("modelIdentifier", "")
        given: Mapping[str, str] = {
            name: text
            for able in root.findall("Implementation/*/Capabilities")
            for name, text in able.items()
        }
    else:
        elements = root.findall(interface)
        if not elements:
            return None
        given = elements[-1].attrib
        identifier = given.get("modelIdentifier", "")
    state, plural = ("State", "s") if version == "3.0" else ("state", "")

    def able(name: str) -> bool:
        return given.get(name) in ("true", "1")

    steps = interface == "CoSimulation"
    return Abilities(
        identifier=identifier,
        needs_tool=able("needsExecutionTool"),
        only_once=able("canBeInstantiatedOnlyOncePerProcess"),
        saves=able(f"canGetAndSetFMU{state}"),
        serializes=able(f"canSerializeFMU{state}"),
        directional_derivatives=able(f"providesDirectionalDerivative{plural}"),
        variable_step=steps and able("canHandleVariableCommunicationStepSize"),
        interpolates_inputs=steps and able("canInterpolateInputs"),
        event_mode=steps and able("hasEventMode"),
        intermediate_update=steps and able("providesIntermediateUpdate"),
        wants_steps=not steps and _wants_steps(given, version),
    )


def _wants_steps(given: Mapping[str, str], version: str) -> bool:
    if version == "2.0":
        return given.get("completedIntegratorStepNotNeeded") not in ("true", "1")
    return version == "3.0" and given.get("needsCompletedIntegratorStep") in ("true", "1")


def _base_units(root: Element) -> dict[str, BaseUnit]:
    found = {}
    for unit in root.findall("UnitDefinitions/Unit"):
        for base in unit.findall("BaseUnit"):
            exponents = tuple(int(base.get(name, "0")) for name in EXPONENTS)
            factor, offset = (
                float(base.get(name, usual)) for name, usual in (("factor", "1"), ("offset", "0"))
            )
            found[unit.get("name", "")] = BaseUnit(exponents, factor, offset)
    return found


def _experiment(root: Element) -> DeclaredExperiment | None:
    elements = root.findall("DefaultExperiment")
    if not elements:
        return None
    given = elements[-1].get
    return DeclaredExperiment(given("startTime"), given("stopTime"), given("tolerance"), given("stepSize"))
