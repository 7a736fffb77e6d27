"""What the model description says of a native FMU beyond its variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from xml.etree.ElementTree import Element, SubElement

from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.model_description import model_description
from cosim_export.native.description3 import fmi3_description

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
    interface: FmuInterface,
    tool: str,
    token: str,
    indicators: Sequence[str],
    clocks: Mapping[str, tuple[int, Fraction | None]] | None = None,
    sources: Sequence[str] = (),
) -> bytes:
    """The text of ``modelDescription.xml``.

    Parameters
    ----------
    version : int
        2 or 3.
    kinds : sequence of str
        "cs", "me" or both.
    interface : FmuInterface
    tool : str
        What made it.
    token : str
        guid or instantiation token.
    indicators : sequence of str
        Names of the event indicators; they count in Model Exchange alone.
    clocks : mapping of str to (int, float or None), optional
        What ticks periodically, as `Program.periodic` has it; FMI 3.0 alone shows it.
    sources : sequence of str
        Files that are compiled where the FMU brings sources; FMI 2.0 alone names them here.
    """
    elements = [
        Element(name, {"modelIdentifier": interface.identifier, **attributes})
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
