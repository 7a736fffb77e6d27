"""Model descriptions for FMI 3.0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement

from cosim_fmu.export.fmu_interface import FmuInterface
from cosim_fmu.export.fmu_variable import FmuVariable
from cosim_fmu.export.model_description import (
    as_text,
    common_attributes,
    default_experiment,
    knowns,
    number_attributes,
    plain_text,
    unknowns,
)
from cosim_fmu.export.unit_definitions import unit_definitions

TYPES = {"Real": "Float64", "Integer": "Int64", "Boolean": "Boolean"}


def fmi3_description(
    kinds: Iterable[Element],
    categories: Element,
    interface: FmuInterface,
    generation_tool: str,
    token: str,
    event_indicators: Sequence[str] = (),
) -> bytes:
    """The text of ``modelDescription.xml`` for FMI 3.0.

    A value reference is the place in ``interface.variables``, as in FMI 2.0; the time comes after them all.

    Parameters
    ----------
    kinds : iterable of Element
        ModelExchange, CoSimulation: what the FMU can do.
    categories : Element
        LogCategories
    interface : FmuInterface
    generation_tool, token : str
    event_indicators : sequence of str
        Names of variables, in the order of ``fmi3GetEventIndicators``.

    References
    ----------
    Functional Mock-up Interface 3.0, sections 2.4 and 3.3.
    """
    attributes = {"fmiVersion": "3.0", "modelName": plain_text(interface.model_name)}
    attributes |= {"instantiationToken": token, **common_attributes(interface, generation_tool, token)}
    root = Element("fmiModelDescription", attributes)
    root.extend(kinds)
    units = unit_definitions(v.unit for v in interface.variables if v.type == "Real")
    if units is not None:
        root.append(units)
    root.append(categories)
    root.append(default_experiment(interface))
    reference = {v.name: i for i, v in enumerate(interface.variables)}
    variables = SubElement(root, "ModelVariables")
    steps = any(kind.get("providesIntermediateUpdate") == "true" for kind in root.iter("CoSimulation"))
    for variable in interface.variables:
        element = _variable(variable, reference)
        if steps and variable.causality in ("input", "output", "local"):
            element.set("intermediateUpdate", "true")
        variables.append(element)
    variables.append(_time(interface.variables))
    root.append(_structure(interface.variables, reference, event_indicators))
    return as_text(root)


def _variable(variable: FmuVariable, reference: dict[str, int]) -> Element:
    attributes = {"name": variable.name, "valueReference": str(reference[variable.name])}
    if variable.description:
        attributes["description"] = plain_text(variable.description)
    attributes |= {"causality": variable.causality, "variability": variable.variability}
    if variable.initial:
        attributes["initial"] = variable.initial
    attributes |= number_attributes(variable)
    if variable.derivative_of:
        attributes["derivative"] = str(reference[variable.derivative_of])
    if variable.reinit:
        attributes["reinit"] = "true"
    return Element(TYPES[variable.type], attributes)


def _time(variables: Sequence[FmuVariable]) -> Element:
    """The independent variable, which FMI 3.0 wants among the others."""
    taken = {v.name for v in variables}
    name = next(n for n in ("time", "simulation_time", f"time_{len(taken)}") if n not in taken)
    attributes = {"name": name, "valueReference": str(len(variables)), "description": "simulation time"}
    return Element("Float64", {**attributes, "causality": "independent", "variability": "continuous"})


def _structure(
    variables: Sequence[FmuVariable], reference: dict[str, int], event_indicators: Sequence[str]
) -> Element:
    outputs, derivatives, initial = unknowns(variables)
    now, at_start = knowns(variables)
    structure = Element("ModelStructure")

    def add(tag: str, name: str, needed: set[str], on_time: bool = False) -> None:
        places = sorted(reference[n] for n in needed)
        known = " ".join(map(str, [*places, len(variables)] if on_time else places))
        SubElement(structure, tag, {"valueReference": str(reference[name]), "dependencies": known})

    for variable in outputs:
        add("Output", variable.name, now & set(variable.dependencies), variable.depends_on_time)
    for variable in derivatives:
        needed = now & set(variable.dependencies)
        add("ContinuousStateDerivative", variable.name, needed, variable.depends_on_time)
    for variable in initial:
        add("InitialUnknown", variable.name, at_start & set(variable.initial_dependencies))
    for name in event_indicators:
        SubElement(structure, "EventIndicator", {"valueReference": str(reference[name])})
    return structure
