"""Reads modelDescription.xml of FMI 1.0, 2.0 and 3.0.

Small offences against the standard that do no harm are let pass: parameters without a variability, lists with
blanks too many, dependencies on what is not there, types that are not defined or have attributes of others.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from cosim_fmi.description.model_description import BaseUnit, DeclaredExperiment, ModelDescription
from cosim_fmi.description.read_abilities import read_abilities
from cosim_fmi.description.read_model_structure import read_model_structure
from cosim_fmi.description.read_variables import read_variables

BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
"""The attributes of a ``BaseUnit``, in the order of its exponents."""


def read_model_description(root: Element) -> ModelDescription:
    """Read a model description.

    Parameters
    ----------
    root : Element
        The root of a checked document (`FmuArchive.pop_description`).

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
    structure = read_model_structure(root, version, variables)
    return ModelDescription(
        version=version,
        token=root.get("instantiationToken" if version == "3.0" else "guid", ""),
        name=root.get("modelName", ""),
        tool=root.get("generationTool", ""),
        naming=root.get("variableNamingConvention", "flat"),
        interfaces={
            interface: abilities
            for interface in ("CoSimulation", "ModelExchange")
            if (abilities := read_abilities(root, interface, version)) is not None
        },
        variables=variables,
        outputs=structure.outputs,
        initial_unknowns=structure.initial_unknowns,
        states=structure.states,
        indicators=structure.indicators,
        state_variables=structure.state_variables,
        rate_variables=structure.rate_variables,
        base_units=_base_units(root),
        log_categories=tuple(each.get("name", "") for each in root.findall("LogCategories/Category")),
        experiment=_experiment(root),
    )


def _base_units(root: Element) -> dict[str, BaseUnit]:
    """The base units of each unit that declares them."""
    units = {}
    for unit in root.findall("UnitDefinitions/Unit"):
        for base in unit.findall("BaseUnit"):
            exponents = tuple(int(base.get(name, "0")) for name in BASE_UNITS)
            factor, offset = float(base.get("factor", "1")), float(base.get("offset", "0"))
            units[unit.get("name", "")] = BaseUnit(exponents, factor, offset)
    return units


def _experiment(root: Element) -> DeclaredExperiment | None:
    """The default experiment, the last one if there are several."""
    elements = root.findall("DefaultExperiment")
    if not elements:
        return None
    attribute = elements[-1].get
    return DeclaredExperiment(
        attribute("startTime"), attribute("stopTime"), attribute("tolerance"), attribute("stepSize")
    )
