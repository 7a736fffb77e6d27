"""Model descriptions of FMUs: what all versions share, units and types."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from cosim.kit import conversion, parse_unit
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.names import is_structured

DISPLAY_UNITS = {"rad": "deg", "rad/s": "deg/s", "rad/s2": "deg/s2", "Pa": "bar", "J": "kJ", "W": "kW"}
"""Units for display in place of those of the computation."""

BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def unit_definitions(
    units: Iterable[str], meanings: Mapping[str, tuple[Sequence[float], float, float]] | None = None
) -> Element | None:
    """Definitions of all units in use, by the exponents of FMI's base units, sorted; None without any.

    Parameters
    ----------
    units : iterable of str
        Modelica unit expressions; "1" needs no definition.
    meanings : mapping of str to (exponents, factor, offset), optional
        Definitions of units that are no unit expressions.

    Examples
    --------
    >>> from xml.etree.ElementTree import tostring
    >>> tostring(unit_definitions(["N.m/rad", "1"])[0]).decode()
    '<Unit name="N.m/rad"><BaseUnit kg="1" m="2" s="-2" rad="-1" /></Unit>'
    """
    used = sorted(set(units) - {"1"})
    if not used:
        return None
    root = Element("UnitDefinitions")
    for name in used:
        definition = (meanings or {}).get(name)
        if definition is None:
            unit = parse_unit(name)
            definition = unit.exponents, unit.factor, unit.offset
        powers, factor, offset = definition
        exponents = {b: f"{e:g}" for b, e in zip(BASE_UNITS, powers, strict=True) if e}
        if factor != 1.0:
            exponents["factor"] = repr(float(factor))
        if offset != 0.0:
            exponents["offset"] = repr(float(offset))
        element = SubElement(root, "Unit", {"name": name})
        if all(exponent == int(exponent) for exponent in powers):  # FMI has no roots
            SubElement(element, "BaseUnit", exponents)
        shown = DISPLAY_UNITS.get(name)
        if shown is not None:
            factor, _ = conversion(name, shown)
            SubElement(element, "DisplayUnit", {"name": shown, "factor": repr(factor)})
    return root


QUANTITIES = {
    "kg": "Mass",
    "m": "Length",
    "m/s": "Velocity",
    "m/s2": "Acceleration",
    "N": "Force",
    "N/m": "TranslationalSpringConstant",
    "kg.m2": "MomentOfInertia",
    "rad": "Angle",
    "rad/s": "AngularVelocity",
    "N.m": "Torque",
    "N.m/rad": "RotationalSpringConstant",
    "N.m.s/rad": "RotationalDampingConstant",
    "s": "Time",
    "J": "Energy",
    "W": "Power",
}
"""The quantity of each unit, named as in the types of the Modelica Standard Library."""


def declared_types(units: Iterable[str], names_of_variables: Iterable[str]) -> dict[str, str]:
    """Names of types by unit, sorted; none that is the name of a variable, which FMI does not want.

    Examples
    --------
    >>> declared_types(["m", "1", "rad", "m"], ["SI.Angle"])
    {'m': 'SI.Length'}
    """
    names = {unit: f"SI.{QUANTITIES[unit]}" for unit in sorted(set(units) & set(QUANTITIES))}
    variables = set(names_of_variables)
    return {unit: name for unit, name in names.items() if name not in variables}


def enumeration_types(
    named: Iterable[tuple[str, tuple[str, ...]]], reserved: Iterable[str]
) -> dict[tuple[str, ...], str]:
    """Names of types by the words that a variable is one of, after the first variable that has them.

    Parameters
    ----------
    named : iterable of (str, tuple of str)
        Names of variables, and their words.
    reserved : iterable of str
        Names that no type may have.

    Examples
    --------
    >>> enumeration_types([("car.mode", ("eco", "sport")), ("bus.mode", ("on", "off"))], ["Mode"])
    {('eco', 'sport'): 'Mode_2', ('on', 'off'): 'Mode_3'}
    """
    used, types = set(reserved), dict[tuple[str, ...], str]()
    for variable, words in named:
        if words in types:
            continue
        plain = variable.rpartition(".")[2].partition("[")[0]
        base = plain[:1].upper() + plain[1:]
        numbered = (f"{base}_{i}" for i in itertools.count(2))
        name = next(n for n in itertools.chain([base], numbered) if n not in used)
        used.add(name)
        types[words] = name
    return types


def type_definitions(
    types: dict[str, str], version: int, enumerations: Mapping[tuple[str, ...], str] | None = None
) -> Element | None:
    """The definitions, for FMI 2.0 or 3.0; None without any.

    Parameters
    ----------
    types : dict of str to str
        From `declared_types`.
    version : int
        2 or 3.
    enumerations : mapping of tuple of str to str, optional
        From `enumeration_types`.
    """
    if not types and not enumerations:
        return None
    root = Element("TypeDefinitions")
    for unit, name in types.items():
        details = {"quantity": QUANTITIES[unit], "unit": unit}
        if unit in DISPLAY_UNITS:
            details["displayUnit"] = DISPLAY_UNITS[unit]
        if version == 2:
            SubElement(SubElement(root, "SimpleType", {"name": name}), "Real", details)
        else:
            SubElement(root, "Float64Type", {"name": name, **details})
    for words, name in (enumerations or {}).items():
        if version == 2:
            listed = SubElement(SubElement(root, "SimpleType", {"name": name}), "Enumeration")
        else:
            listed = SubElement(root, "EnumerationType", {"name": name})
        for number, word in enumerate(words, start=1):
            SubElement(listed, "Item", {"name": word, "value": str(number)})
    return root


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
"""Smaller bounds stand for "more than 0", which no attribute says."""
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def finish_model_description(
    begun: bytes,
    interface: ExportedInterface,
    generation_tool: str,
    guid: str,
    abilities: Mapping[str, str] = CAPABILITIES,
) -> bytes:
    """A complete model description, from the one of pythonfmu and the facts that it lacks.

    pythonfmu knows no units, bounds, dependencies or initial unknowns, writes numbers with 16 digits
    (which is one too few) and puts in the time and a random identifier, so no two archives are equal.

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
        ModelExchange, CoSimulation: what the FMU can do.
    categories : Element
        LogCategories
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
    types = add_what_is_common(root, interface, categories, 2)
    variables = SubElement(root, "ModelVariables")
    index = {v.name: i for i, v in enumerate(interface.variables, start=1)}
    for reference, variable in enumerate(interface.variables):
        variables.append(_scalar_variable(reference, variable, index, types))
    root.append(_model_structure(interface.variables, index))
    return as_text(root)


def common_attributes(interface: ExportedInterface, generation_tool: str, identifier: str) -> dict[str, str]:
    """Attributes of the root that FMI 2.0 and 3.0 share; without an identifier those that it is made from."""
    structured = interface.naming != "flat" and all(is_structured(v.name) for v in interface.variables)
    attributes = {
        "generationTool": generation_tool,
        "variableNamingConvention": "structured" if structured else "flat",
    }
    if identifier:  # which does not depend on the date
        attributes["generationDateAndTime"] = date_and_time()
    return attributes | {name: plain_text(text) for name, text in sorted(interface.about.items()) if text}


def date_and_time() -> str:
    """The present time, or that of ``SOURCE_DATE_EPOCH``, so that a build can be repeated to the byte."""
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


class Types(NamedTuple):
    """Names of the types that variables are declared of: real ones by unit, enumerations by their items."""

    by_unit: dict[str, str]
    by_items: dict[tuple[str, ...], str]


def add_what_is_common(
    root: Element, interface: ExportedInterface, categories: Element, version: int
) -> Types:
    """Units, types, log categories and default experiment, before the variables; the types."""
    used = (v.unit for v in interface.variables if v.type == "Real")
    units = unit_definitions(used, interface.unit_meanings)
    types = types_of(interface.variables)
    definitions = type_definitions(types.by_unit, version, types.by_items)
    root.extend(e for e in (units, definitions, categories, default_experiment(interface)) if e is not None)
    return types


def types_of(variables: Sequence[FmuVariable]) -> Types:
    """The types of these variables."""
    names = [v.name for v in variables]
    by_unit = declared_types((v.unit for v in variables if v.type == "Real"), names)
    named = [(v.name, v.items) for v in variables if v.type == "Enumeration"]
    return Types(by_unit, enumeration_types(named, [*names, *by_unit.values()]))


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
    """Attributes with which a variable begins, in FMI 2.0 and 3.0."""
    attributes = {"name": name, "valueReference": str(reference)}
    if description:
        attributes["description"] = plain_text(description)
    attributes |= {"causality": variable.causality, "variability": variable.variability}
    return attributes | ({"initial": variable.initial} if variable.initial else {})


def number_attributes(variable: FmuVariable, types: Types) -> dict[str, str]:
    """Type, unit, bounds, nominal and start value. The unit stands there for those who read no types, too."""
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
            if bound is not None and abs(bound) < 2**31:  # all that an Integer of FMI 2.0 can be
                details[name] = str(int(bound))
    if variable.start is not None:
        writers: dict[str, Callable[[Any], str]] = {"Real": real_text, "String": str}
        writers["Boolean"] = lambda value: str(value).lower()
        details["start"] = writers.get(variable.type, repr)(variable.start)
    return details


def real_text(value: float) -> str:
    """A number as XML writes it; without the sign of a zero.

    Examples
    --------
    >>> real_text(-0.0), real_text(0.1), real_text(float("-inf")), real_text(float("nan"))
    ('0.0', '0.1', '-INF', 'NaN')
    """
    return repr(float(value) + 0.0).replace("inf", "INF").replace("nan", "NaN")


def _model_structure(variables: tuple[FmuVariable, ...], index: Mapping[str, int]) -> Element:
    """Outputs and derivatives with their dependencies between steps; unknowns of the initialization.

    What an unknown depends on is a list of everything that it depends on: an empty one says "of nothing".
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
    """Outputs, derivatives in the order of the continuous states, and what initialization computes."""
    outputs = [v for v in variables if v.causality == "output"]
    derivatives = sorted((v for v in variables if v.derivative_of), key=lambda v: v.offset)
    computed = [v for v in variables if v.initial == "calculated"]
    return outputs, derivatives, [v for v in computed if v.causality == "output" or v.derivative_of]


def knowns(variables: Iterable[FmuVariable]) -> tuple[set[str], set[str]]:
    """Names of what unknowns may depend on between steps, and when the simulation is initialized."""
    listed = list(variables)
    inputs = {v.name for v in listed if v.causality == "input"}
    states = {v.derivative_of for v in listed} - {""}
    return states | inputs, inputs | {v.name for v in listed if v.initial == "exact"}
