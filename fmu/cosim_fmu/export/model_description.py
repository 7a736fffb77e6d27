"""Finishing the model description that pythonfmu begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from cosim_fmu.export.fmu_interface import FmuInterface
from cosim_fmu.export.fmu_variable import FmuVariable
from cosim_fmu.export.names import is_structured
from cosim_fmu.export.unit_definitions import unit_definitions

CAPABILITIES = {
    "needsExecutionTool": "false",
    "canHandleVariableCommunicationStepSize": "true",
    "canInterpolateInputs": "false",
    "canBeInstantiatedOnlyOncePerProcess": "false",
    "canNotUseMemoryManagementFunctions": "true",
    "canGetAndSetFMUstate": "true",
    "canSerializeFMUstate": "true",
}
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def finish_model_description(begun: bytes, interface: FmuInterface, generation_tool: str, guid: str) -> bytes:
    """A whole model description, from the one that pythonfmu wrote and what it cannot say.

    pythonfmu knows no units, bounds, dependencies or initial unknowns, writes numbers with 16 digits
    (which is one too few) and puts in the time and a random identifier, so no two archives are equal.

    Parameters
    ----------
    begun : bytes
        ``modelDescription.xml`` of pythonfmu; its root and its element CoSimulation are kept.
    interface : FmuInterface
    generation_tool, guid : str

    Returns
    -------
    bytes
        UTF-8, the same for the same arguments.
    """
    root = ElementTree.fromstring(begun)
    simulation = root.find("CoSimulation")
    categories = root.find("LogCategories")
    assert simulation is not None and categories is not None
    for child in list(root):
        root.remove(child)
    structured = all(is_structured(v.name) for v in interface.variables)
    attributes = {
        "fmiVersion": "2.0",
        "modelName": _text(interface.model_name),
        "guid": guid,
        "generationTool": f"{generation_tool} with {root.get('generationTool', 'pythonfmu')}",
        "variableNamingConvention": "structured" if structured else "flat",
    }
    attributes |= {name: _text(text) for name, text in sorted(interface.about.items()) if text}
    root.attrib.clear()
    root.attrib.update(attributes)
    simulation.attrib.update({**CAPABILITIES, "modelIdentifier": interface.identifier})
    root.append(simulation)
    units = unit_definitions(v.unit for v in interface.variables if v.type == "Real")
    if units is not None:
        root.append(units)
    root.append(categories)
    root.append(_default_experiment(interface))
    variables = SubElement(root, "ModelVariables")
    index = {v.name: i for i, v in enumerate(interface.variables, start=1)}
    for reference, variable in enumerate(interface.variables):
        variables.append(_scalar_variable(reference, variable, index))
    root.append(_model_structure(interface.variables, index))
    ElementTree.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "utf-8") + b"\n"


def _text(text: str) -> str:
    """Text that XML can hold, in one line."""
    return " ".join(NOT_XML.sub("", text).split())


def _default_experiment(interface: FmuInterface) -> Element:
    attributes = {"startTime": "0.0"}
    for name, value in (
        ("stopTime", interface.stop_time),
        ("tolerance", interface.accuracy),
        ("stepSize", interface.step_size),
    ):
        if value is not None:
            attributes[name] = repr(float(value))
    return Element("DefaultExperiment", attributes)


def _scalar_variable(reference: int, variable: FmuVariable, index: Mapping[str, int]) -> Element:
    attributes = {"name": variable.name, "valueReference": str(reference)}
    if variable.description:
        attributes["description"] = _text(variable.description)
    attributes |= {"causality": variable.causality, "variability": variable.variability}
    if variable.initial:
        attributes["initial"] = variable.initial
    element = Element("ScalarVariable", attributes)
    details: dict[str, str] = {}
    if variable.type == "Real":
        if variable.unit != "1":
            details["unit"] = variable.unit
        if variable.display_unit:
            details["displayUnit"] = variable.display_unit
        bounds = (("min", variable.minimum), ("max", variable.maximum), ("nominal", variable.nominal))
        for name, bound in bounds:
            if bound is not None:
                details[name] = repr(float(bound))
    if variable.start is not None:
        details["start"] = repr(variable.start)
    if variable.derivative_of:
        details["derivative"] = str(index[variable.derivative_of])
    SubElement(element, variable.type, details)
    return element


def _model_structure(variables: tuple[FmuVariable, ...], index: Mapping[str, int]) -> Element:
    """Outputs and derivatives with what they depend on between steps; unknowns of the initialization.

    What an unknown depends on is a list of everything that it depends on: an empty one says "of nothing".
    """
    by_name = {v.name: v for v in variables}
    states = {v.derivative_of for v in variables} - {""}
    given = {v.name for v in variables if v.causality == "input" or v.initial == "exact"}
    outputs = [v for v in variables if v.causality == "output"]
    derivatives = [v for v in variables if v.derivative_of]
    unknown = [v for v in variables if (v in outputs or v in derivatives) and v.initial == "calculated"]
    structure = Element("ModelStructure")

    def add(tag: str, listed: list[FmuVariable], needs: Callable[[FmuVariable], set[str]]) -> None:
        parent = SubElement(structure, tag) if listed else None
        for variable in listed:
            assert parent is not None
            known = " ".join(str(i) for i in sorted(index[name] for name in needs(variable)))
            SubElement(parent, "Unknown", {"index": str(index[variable.name]), "dependencies": known})

    def now(variable: FmuVariable) -> set[str]:
        return {n for n in variable.dependencies if n in states or by_name[n].causality == "input"}

    add("Outputs", outputs, now)
    add("Derivatives", derivatives, now)
    add("InitialUnknowns", unknown, lambda v: given & set(v.initial_dependencies))
    return structure
