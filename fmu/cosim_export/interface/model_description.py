"""Model descriptions of FMI 2.0, and the elements that FMI 2.0 and 3.0 have in common."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.names import is_structured
from cosim_export.interface.type_definitions import Types, type_definitions, types_of, unit_definitions

CAPABILITIES = {
    "needsExecutionTool": "false",
    "canHandleVariableCommunicationStepSize": "true",
    "canInterpolateInputs": "false",
    "canBeInstantiatedOnlyOncePerProcess": "false",
    "canNotUseMemoryManagementFunctions": "true",
    "canGetAndSetFMUstate": "true",
    "canSerializeFMUstate": "true",
}
SMALLEST = 1e-100
"""Smaller bounds mean "more than 0", for which FMI has no attribute: they are left out."""
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def finish_model_description(
    begun: bytes,
    interface: ExportedInterface,
    generation_tool: str,
    guid: str,
    abilities: Mapping[str, str] = CAPABILITIES,
) -> bytes:
    """A complete model description, from the one of pythonfmu and the facts that it lacks.

    pythonfmu writes no units, bounds, dependencies or initial unknowns, numbers with 16 digits (which is one
    too few), and the time and a random identifier, so that no two archives are equal.

    Parameters
    ----------
    begun : bytes
        ``modelDescription.xml`` of pythonfmu; its root and its element CoSimulation are kept.
    interface : ExportedInterface
    generation_tool, guid : str
    abilities : mapping of str to str
        Attributes of the element CoSimulation.

    Returns
    -------
    bytes
        UTF-8, the same for the same arguments.
    """
    root = ElementTree.fromstring(begun)
    simulation = root.find("CoSimulation")
    categories = root.find("LogCategories")
    assert simulation is not None and categories is not None
    simulation.attrib.update({**abilities, "modelIdentifier": interface.identifier})
    tool = f"{generation_tool} with {root.get('generationTool', 'pythonfmu')}"
    return model_description([simulation], categories, interface, tool, guid)


def model_description(
    kinds: Iterable[Element],
    categories: Element,
    interface: ExportedInterface,
    generation_tool: str,
    guid: str,
    event_indicators: int = 0,
) -> bytes:
    """The text of ``modelDescription.xml`` for FMI 2.0.

    Parameters
    ----------
    kinds : iterable of Element
        The elements ModelExchange and CoSimulation.
    categories : Element
        The element LogCategories.
    interface : ExportedInterface
    generation_tool, guid : str
    event_indicators : int
        The number of event indicators.
    """
    attributes = {"fmiVersion": "2.0", "modelName": plain_text(interface.model_name), "guid": guid}
    attributes |= common_attributes(interface, generation_tool, guid)
    if event_indicators:
        attributes["numberOfEventIndicators"] = str(event_indicators)
    root = Element("fmiModelDescription", attributes)
    root.extend(kinds)
    types = add_common_elements(root, interface, categories, 2)
    variables = SubElement(root, "ModelVariables")
    index = {v.name: i for i, v in enumerate(interface.variables, start=1)}
    for reference, variable in enumerate(interface.variables):
        variables.append(_scalar_variable(reference, variable, index, types))
    root.append(_model_structure(interface.variables, index))
    return as_text(root)


def common_attributes(interface: ExportedInterface, generation_tool: str, identifier: str) -> dict[str, str]:
    """Attributes of the root that FMI 2.0 and 3.0 share; without the date if the identifier is not known yet.

    The identifier is a digest of the description, and must not depend on the date.
    """
    structured = interface.naming != "flat" and all(is_structured(v.name) for v in interface.variables)
    attributes = {
        "generationTool": generation_tool,
        "variableNamingConvention": "structured" if structured else "flat",
    }
    if identifier:
        attributes["generationDateAndTime"] = date_and_time()
    return attributes | {name: plain_text(text) for name, text in sorted(interface.about.items()) if text}


def date_and_time() -> str:
    """The present time, or that of ``SOURCE_DATE_EPOCH``, with which builds have equal bytes."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(epoch) if epoch.isdigit() else time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def as_text(root: Element) -> bytes:
    """The document, indented, in UTF-8."""
    ElementTree.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "utf-8") + b"\n"


def plain_text(text: str) -> str:
    """Text that XML can hold, in one line."""
    return " ".join(NOT_XML.sub("", text).split())


def default_experiment(interface: ExportedInterface) -> Element:
    """Start, stop, tolerance and step; elements and attributes are the same in FMI 2.0 and 3.0."""
    attributes = {"startTime": real_text(interface.start_time)}
    for name, value in (
        ("stopTime", interface.stop_time),
        ("tolerance", interface.accuracy),
        ("stepSize", interface.step_size),
    ):
        if value is not None:
            attributes[name] = real_text(value)
    return Element("DefaultExperiment", attributes)


def add_common_elements(
    root: Element, interface: ExportedInterface, categories: Element, version: int
) -> Types:
    """Add units, types, log categories and default experiment, before the variables; returns the types."""
    used = (v.unit for v in interface.variables if v.type == "Real")
    units = unit_definitions(used, interface.unit_meanings)
    types = types_of(interface.variables)
    definitions = type_definitions(types.by_unit, version, types.by_items)
    root.extend(e for e in (units, definitions, categories, default_experiment(interface)) if e is not None)
    return types


def _scalar_variable(
    reference: int, variable: FmuVariable, index: Mapping[str, int], types: Types
) -> Element:
    element = Element("ScalarVariable", head(variable, variable.name, reference, variable.description))
    details = number_attributes(variable, types)
    if variable.derivative_of:
        details["derivative"] = str(index[variable.derivative_of])
    if variable.reinit:
        details["reinit"] = "true"
    SubElement(element, variable.type, details)
    return element


def head(variable: FmuVariable, name: str, reference: int, description: str) -> dict[str, str]:
    """The first attributes of a variable, in FMI 2.0 and 3.0."""
    attributes = {"name": name, "valueReference": str(reference)}
    if description:
        attributes["description"] = plain_text(description)
    attributes |= {"causality": variable.causality, "variability": variable.variability}
    return attributes | ({"initial": variable.initial} if variable.initial else {})


def number_attributes(variable: FmuVariable, types: Types) -> dict[str, str]:
    """Type, unit, bounds, nominal and start value; the unit is repeated for tools that do not read types."""
    details: dict[str, str] = {}
    if variable.type == "Real":
        if variable.unit in types.by_unit:
            details["declaredType"] = types.by_unit[variable.unit]
        if variable.unit != "1":
            details["unit"] = variable.unit
        if variable.display_unit:
            details["displayUnit"] = variable.display_unit
        bounds = (("min", variable.lower_bound), ("max", variable.maximum), ("nominal", variable.nominal))
        for name, bound in bounds:
            if bound is not None and not 0.0 < abs(bound) < SMALLEST:
                details[name] = real_text(bound)
    elif variable.type == "Enumeration":
        details["declaredType"] = types.by_items[variable.items]
    elif variable.type == "Integer":
        for name, bound in (("min", variable.lower_bound), ("max", variable.maximum)):
            if bound is not None and abs(bound) < 2**31:  # the range of an Integer of FMI 2.0
                details[name] = str(int(bound))
    if variable.start is not None:
        writers: dict[str, Callable[[Any], str]] = {"Real": real_text, "String": str}
        writers["Boolean"] = lambda value: str(value).lower()
        details["start"] = writers.get(variable.type, repr)(variable.start)
    return details


def real_text(value: float) -> str:
    """A number in the notation of XML, without the sign of a zero.

    Examples
    --------
    >>> real_text(-0.0), real_text(0.1), real_text(float("-inf")), real_text(float("nan"))
    ('0.0', '0.1', '-INF', 'NaN')
    """
    return repr(float(value) + 0.0).replace("inf", "INF").replace("nan", "NaN")


def _model_structure(variables: tuple[FmuVariable, ...], index: Mapping[str, int]) -> Element:
    """Outputs and derivatives with their dependencies between steps; unknowns of the initialization.

    The dependencies of an unknown are always listed: an empty list means that it depends on nothing.
    """
    outputs, derivatives, unknown = unknowns(variables)
    structure = Element("ModelStructure")

    def add(tag: str, listed: list[FmuVariable], needs: Callable[[FmuVariable], set[str]]) -> None:
        parent = SubElement(structure, tag) if listed else None
        for variable in listed:
            assert parent is not None
            dependencies = " ".join(str(i) for i in sorted(index[name] for name in needs(variable)))
            SubElement(parent, "Unknown", {"index": str(index[variable.name]), "dependencies": dependencies})

    between_steps, at_start = knowns(variables)
    add("Outputs", outputs, lambda v: between_steps & set(v.dependencies))
    add("Derivatives", derivatives, lambda v: between_steps & set(v.dependencies))
    add("InitialUnknowns", unknown, lambda v: at_start & set(v.initial_dependencies))
    return structure


def unknowns(
    variables: Sequence[FmuVariable],
) -> tuple[list[FmuVariable], list[FmuVariable], list[FmuVariable]]:
    """Outputs, derivatives in the order of the continuous states, and the unknowns of the initialization."""
    outputs = [v for v in variables if v.causality == "output"]
    derivatives = sorted((v for v in variables if v.derivative_of), key=lambda v: v.offset)
    computed = [v for v in variables if v.initial == "calculated"]
    return outputs, derivatives, [v for v in computed if v.causality == "output" or v.derivative_of]


def knowns(variables: Iterable[FmuVariable]) -> tuple[set[str], set[str]]:
    """Names of the variables on which unknowns may depend between steps, and in the initialization."""
    listed = list(variables)
    inputs = {v.name for v in listed if v.causality == "input"}
    states = {v.derivative_of for v in listed} - {""}
    return states | inputs, inputs | {v.name for v in listed if v.initial == "exact"}
