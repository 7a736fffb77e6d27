"""Reads what an FMU can do by Co-Simulation or Model Exchange, from modelDescription.xml."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from cosim_fmi.description.model_description import Abilities, is_true


def read_abilities(root: Element, interface: str, version: str) -> Abilities | None:
    """The abilities of an interface; None if it is not offered.

    Parameters
    ----------
    root : Element
    interface : str
        "CoSimulation" or "ModelExchange".
    version : str
        "1.0", "2.0" or "3.0".
    """
    attributes = _attributes(root, interface, version)
    if attributes is None:
        return None

    def able(name: str) -> bool:
        return is_true(attributes.get(name))

    # FMI 3.0 spells these attributes in another way
    state, derivative = ("State", "Derivatives") if version == "3.0" else ("state", "Derivative")
    steps = interface == "CoSimulation"
    return Abilities(
        identifier=attributes.get("modelIdentifier", ""),
        needs_tool=able("needsExecutionTool"),
        only_once=able("canBeInstantiatedOnlyOncePerProcess"),
        saves=able(f"canGetAndSetFMU{state}"),
        serializes=able(f"canSerializeFMU{state}"),
        directional_derivatives=able(f"providesDirectional{derivative}"),
        variable_step=steps and able("canHandleVariableCommunicationStepSize"),
        interpolates_inputs=steps and able("canInterpolateInputs"),
        event_mode=steps and able("hasEventMode"),
        intermediate_update=steps and able("providesIntermediateUpdate"),
        wants_steps=not steps and _wants_steps(attributes, version),
    )


def _attributes(root: Element, interface: str, version: str) -> Mapping[str, str] | None:
    """The attributes that describe an interface; None if it is not offered."""
    if version != "1.0":
        elements = root.findall(interface)
        return elements[-1].attrib if elements else None
    # a file of FMI 1.0 has one interface: Co-Simulation where it says how that is implemented
    is_co_simulation = root.find("Implementation") is not None
    if is_co_simulation != (interface == "CoSimulation"):
        return None
    attributes: dict[str, str] = {}
    for capabilities in root.findall("Implementation/*/Capabilities"):
        attributes.update(capabilities.attrib)
    return {**attributes, "modelIdentifier": root.get("modelIdentifier", "")}


def _wants_steps(attributes: Mapping[str, str], version: str) -> bool:
    """Whether Model Exchange has to report completed integrator steps; in FMI 1.0 it has not."""
    if version == "2.0":
        return not is_true(attributes.get("completedIntegratorStepNotNeeded"))
    return version == "3.0" and is_true(attributes.get("needsCompletedIntegratorStep"))
