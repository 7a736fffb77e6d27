"""Finishing the model description that pythonfmu begins."""

from __future__ import annotations

import re
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
    if interface.description:
        attributes["description"] = _text(interface.description)
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
    for reference, variable in enumerate(interface.variables):
        variables.append(_scalar_variable(reference, variable))
    root.append(_model_structure(interface.variables))
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


def _scalar_variable(reference: int, variable: FmuVariable) -> Element:
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
        for name, bound in (("min", variable.minimum), ("max", variable.maximum)):
            if bound is not None:
                details[name] = repr(float(bound))
    if variable.start is not None:
        details["start"] = repr(variable.start)
    SubElement(element, variable.type, details)
    return element


def _model_structure(variables: tuple[FmuVariable, ...]) -> Element:
    """Outputs with their direct feedthrough; unknowns of the initialization with all that is given then."""
    index = {v.name: i for i, v in enumerate(variables, start=1)}
    given = [index[v.name] for v in variables if v.causality != "input" and v.initial == "exact"]
    structure = Element("ModelStructure")
    outputs = [v for v in variables if v.causality == "output"]
    unknown = [v for v in outputs if v.initial == "calculated"]
    for tag, listed, more in (("Outputs", outputs, []), ("InitialUnknowns", unknown, given)):
        if listed:
            parent = SubElement(structure, tag)
            for variable in listed:
                needs = sorted([index[name] for name in variable.feedthrough] + more)
                attributes = {"index": str(index[variable.name]), "dependencies": " ".join(map(str, needs))}
                SubElement(parent, "Unknown", attributes)
    return structure
