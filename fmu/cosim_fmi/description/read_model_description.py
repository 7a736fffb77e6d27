"""Reads modelDescription.xml of FMI 1.0, 2.0 and 3.0; its variables are read by `read_variables`.

Small offences against the standard that do no harm are let pass: lists with blanks too many, dependencies on
what is not there.
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
    """Read a model description.

    Parameters
    ----------
    root : Element
        The root of a checked document (`FmuArchive.take_description`).

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
    rates = _rate_variables(root, version, by_key)
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
        naming=root.get("variableNamingConvention", "flat"),
        interfaces={
            interface: abilities
            for interface in ("CoSimulation", "ModelExchange")
            if (abilities := _abilities(root, interface, version)) is not None
        },
        variables=variables,
        outputs=outputs,
        initial_unknowns=initial,
        states=states,
        indicators=indicators,
        state_variables=_state_variables(rates, by_key),
        rate_variables=rates,
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


def _abilities(root: Element, interface: str, version: str) -> Abilities | None:
    """The abilities of an interface; None if it is not offered."""
    if version == "1.0":
        implemented = root.find("Implementation")
        if (implemented is not None) != (interface == "CoSimulation"):
            return None
        identifier = root.get("modelIdentifier", "")
        attributes: Mapping[str, str] = {
            name: text
            for able in root.findall("Implementation/*/Capabilities")
            for name, text in able.items()
        }
    else:
        elements = root.findall(interface)
        if not elements:
            return None
        attributes = elements[-1].attrib
        identifier = attributes.get("modelIdentifier", "")
    state, plural = ("State", "s") if version == "3.0" else ("state", "")

    def able(name: str) -> bool:
        return attributes.get(name) in ("true", "1")

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
        wants_steps=not steps and _wants_steps(attributes, version),
    )


def _wants_steps(given: Mapping[str, str], version: str) -> bool:
    if version == "2.0":
        return given.get("completedIntegratorStepNotNeeded") not in ("true", "1")
    return version == "3.0" and given.get("needsCompletedIntegratorStep") in ("true", "1")


def _base_units(root: Element) -> dict[str, BaseUnit]:
    units = {}
    for unit in root.findall("UnitDefinitions/Unit"):
        for base in unit.findall("BaseUnit"):
            exponents = tuple(int(base.get(name, "0")) for name in EXPONENTS)
            factor, offset = (
                float(base.get(name, usual)) for name, usual in (("factor", "1"), ("offset", "0"))
            )
            units[unit.get("name", "")] = BaseUnit(exponents, factor, offset)
    return units


def _experiment(root: Element) -> DeclaredExperiment | None:
    elements = root.findall("DefaultExperiment")
    if not elements:
        return None
    attribute = elements[-1].get
    return DeclaredExperiment(
        attribute("startTime"), attribute("stopTime"), attribute("tolerance"), attribute("stepSize")
    )
