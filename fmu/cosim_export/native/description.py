"""Model descriptions of FMI 3.0, and of native FMUs of both versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from xml.etree.ElementTree import Element, SubElement

from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.model_description import (
    add_common_elements,
    as_text,
    common_attributes,
    head,
    knowns,
    model_description,
    number_attributes,
    plain_text,
    unknowns,
)
from cosim_export.interface.type_definitions import Types
from cosim_export.native.fmu_array import FmuArray, variables_of

TYPES = {
    "Real": "Float64",
    "Integer": "Int64",
    "Boolean": "Boolean",
    "Enumeration": "Enumeration",
    "String": "String",
}


def fmi3_description(
    kinds: Iterable[Element],
    categories: Element,
    interface: ExportedInterface,
    generation_tool: str,
    token: str,
    event_indicators: Sequence[str] = (),
    clocks: Mapping[str, tuple[int, Fraction | None]] | None = None,
) -> bytes:
    """The text of ``modelDescription.xml`` for FMI 3.0.

    A value reference is the place in ``interface.variables``, as in FMI 2.0, of an array that of its first
    element; the time comes after them all.

    Parameters
    ----------
    kinds : iterable of Element
        ModelExchange, CoSimulation: what the FMU can do.
    categories : Element
        LogCategories
    interface : ExportedInterface
    generation_tool, token : str
    event_indicators : sequence of str
        Names of variables, in the order of ``fmi3GetEventIndicators``.
    clocks : mapping of str to (int, float or None), optional
        Periodic events, as in `Program.periodic`: each becomes an output clock. Their value references follow
        that of the time.

    References
    ----------
    Functional Mock-up Interface 3.0, sections 2.2.8, 2.4 and 3.3.
    """
    attributes = {"fmiVersion": "3.0", "modelName": plain_text(interface.model_name)}
    attributes |= {"instantiationToken": token, **common_attributes(interface, generation_tool, token)}
    root = Element("fmiModelDescription", attributes)
    root.extend(kinds)
    types = add_common_elements(root, interface, categories, 3)
    listed = variables_of(interface)
    reference = {v.name: array.reference for array in listed for v in array.elements}
    variables = SubElement(root, "ModelVariables")
    steps = any(kind.get("providesIntermediateUpdate") == "true" for kind in root.iter("CoSimulation"))
    for array in listed:
        element = _variable(array, reference, types)
        first = array.elements[0]
        if steps and first.causality in ("input", "output", "local") and first.variability == "continuous":
            element.set("intermediateUpdate", "true")
        variables.append(element)
    time = _time(len(interface.variables), {array.name for array in listed})
    names = {v.name for v in interface.variables}
    ticking = list(_clocks(clocks or {}, len(interface.variables) + 1, names))
    variables.extend([time, *ticking])
    root.append(_structure(interface.variables, reference, event_indicators, ticking))
    return as_text(root)


def _clocks(
    clocks: Mapping[str, tuple[int, Fraction | None]], first: int, names_of_variables: Set[str]
) -> Iterator[Element]:
    """Output clocks of the kind "triggered": the FMU handles these events even if no host reads them."""
    for i, (path, (_, period)) in enumerate(clocks.items()):
        yield Element(
            "Clock",
            {
                "name": f"{path}_clock" if path in names_of_variables else path,
                "valueReference": str(first + i),
                "description": f"ticks every {_seconds(period)} s"
                if period
                else "ticks with a period that can be set",
                "causality": "output",
                "intervalVariability": "triggered",
            },
        )


def _seconds(period: Fraction) -> str:
    """The period as a decimal number if that is exact, else as a fraction.

    Examples
    --------
    >>> _seconds(Fraction(3, 10)), _seconds(Fraction(1, 3))
    ('0.3', '1/3')
    """
    decimal = repr(float(period))
    return decimal if Fraction(decimal) == period else str(period)


def _variable(array: FmuArray, reference: Mapping[str, int], types: Types) -> Element:
    first = array.elements[0]
    attributes = head(first, array.name, array.reference, array.description)
    attributes |= number_attributes(first, types)
    starts = [number_attributes(v, types).get("start") for v in array.elements]
    attributes.pop("start", None)
    if None not in starts and first.type != "String":
        attributes["start"] = " ".join(map(str, starts))
    if first.derivative_of:
        attributes["derivative"] = str(reference[first.derivative_of])
    if any(v.reinit for v in array.elements):
        attributes["reinit"] = "true"
    element = Element(TYPES[first.type], attributes)
    for size in array.dimensions:
        SubElement(element, "Dimension", {"start": str(size)})
    for start in starts if first.type == "String" and None not in starts else ():
        SubElement(element, "Start", {"value": str(start)})
    return element


def _time(reference: int, names_of_variables: Set[str]) -> Element:
    """The independent variable, which FMI 3.0 requires among the variables."""
    name = next(n for n in ("time", "simulation_time", f"time_{reference}") if n not in names_of_variables)
    attributes = {"name": name, "valueReference": str(reference), "description": "simulation time"}
    return Element("Float64", {**attributes, "causality": "independent", "variability": "continuous"})


def _structure(
    variables: Sequence[FmuVariable],
    reference: Mapping[str, int],
    event_indicators: Sequence[str],
    clocks: Sequence[Element],
) -> Element:
    """The dependencies of unknowns; an array depends on everything that one of its elements depends on.

    Unlike in FMI 2.0, dependencies between steps include parameters and discrete states.

    References
    ----------
    Functional Mock-up Interface 3.0, section 2.4.8, attribute ``dependencies``.
    """
    outputs, derivatives, initial = unknowns(variables)
    now, at_start = knowns(variables)
    now |= at_start
    structure = Element("ModelStructure")

    def add(
        tag: str, listed: Sequence[FmuVariable], knowns_of_tag: Set[str], initially: bool = False
    ) -> None:
        needs: dict[int, set[int]] = {}
        for variable in listed:
            names = variable.initial_dependencies if initially else variable.dependencies
            places = needs.setdefault(reference[variable.name], set())
            places |= {reference[name] for name in knowns_of_tag & set(names)}
            if variable.initially_on_time if initially else variable.depends_on_time:
                places.add(len(variables))
        for place, places in needs.items():
            known_places = " ".join(map(str, sorted(places)))
            SubElement(structure, tag, {"valueReference": str(place), "dependencies": known_places})

    add("Output", outputs, now)
    for clock in clocks:
        place = {"valueReference": clock.attrib["valueReference"], "dependencies": str(len(variables))}
        SubElement(structure, "Output", place)
    add("ContinuousStateDerivative", derivatives, now)
    add("InitialUnknown", initial, at_start, initially=True)
    for clock in clocks:
        place = {"valueReference": clock.attrib["valueReference"], "dependencies": ""}
        SubElement(structure, "InitialUnknown", place)
    for name in event_indicators:
        SubElement(structure, "EventIndicator", {"valueReference": str(reference[name])})
    return structure


CATEGORIES = {
    "logAll": "everything",
    "logStatusWarning": "what may be wrong",
    "logStatusDiscard": "what could not be done as asked",
    "logStatusError": "what is wrong",
    "logProgress": "how far a communication step is that takes long",
}
COMMON2 = {
    "needsExecutionTool": "false",
    "canBeInstantiatedOnlyOncePerProcess": "false",
    "canNotUseMemoryManagementFunctions": "true",
    "canGetAndSetFMUstate": "true",
    "canSerializeFMUstate": "true",
    "providesDirectionalDerivative": "true",
}
COMMON3 = {
    "needsExecutionTool": "false",
    "canBeInstantiatedOnlyOncePerProcess": "false",
    "canGetAndSetFMUState": "true",
    "canSerializeFMUState": "true",
    "providesDirectionalDerivatives": "true",
    "providesAdjointDerivatives": "true",
}
KINDS = {
    2: {
        "me": ("ModelExchange", COMMON2),
        "cs": (
            "CoSimulation",
            {**COMMON2, "canHandleVariableCommunicationStepSize": "true", "canInterpolateInputs": "true"},
        ),
    },
    3: {
        "me": ("ModelExchange", {**COMMON3, "needsCompletedIntegratorStep": "true"}),
        "cs": (
            "CoSimulation",
            {
                **COMMON3,
                "canHandleVariableCommunicationStepSize": "true",
                "providesIntermediateUpdate": "true",
                "mightReturnEarlyFromDoStep": "true",
                "canReturnEarlyAfterIntermediateUpdate": "true",
                "hasEventMode": "true",
            },
        ),
    },
}


def describe(
    version: int,
    kinds: Sequence[str],
    interface: ExportedInterface,
    tool: str,
    token: str,
    indicators: Sequence[str],
    clocks: Mapping[str, tuple[int, Fraction | None]] | None = None,
    sources: Sequence[str] = (),
    abilities: Mapping[str, str] | None = None,
) -> bytes:
    """The text of ``modelDescription.xml``.

    Parameters
    ----------
    version : int
        2 or 3.
    kinds : sequence of str
        "cs", "me" or both.
    interface : ExportedInterface
    tool : str
        The tool that generated it.
    token : str
        guid or instantiation token.
    indicators : sequence of str
        Names of the event indicators, for Model Exchange.
    clocks : mapping of str to (int, float or None), optional
        Periodic events, as in `Program.periodic`; only FMI 3.0 has them.
    sources : sequence of str
        Names of the source files to compile; only FMI 2.0 lists them here.
    abilities : mapping of str to str, optional
        Attributes of the interface elements; by default those of FMUs of models.
    """
    elements = [
        Element(name, {"modelIdentifier": interface.identifier, **(abilities or attributes)})
        for kind, (name, attributes) in KINDS[version].items()
        if kind in kinds
    ]
    for element in elements if version == 2 and sources else ():
        listed = SubElement(element, "SourceFiles")
        for name in sources:
            SubElement(listed, "File", {"name": name})
    categories = Element("LogCategories")
    for name, text in CATEGORIES.items():
        SubElement(categories, "Category", {"name": name, "description": text})
    if version == 2:
        return model_description(elements, categories, interface, tool, token, len(indicators))
    return fmi3_description(elements, categories, interface, tool, token, indicators, clocks)
