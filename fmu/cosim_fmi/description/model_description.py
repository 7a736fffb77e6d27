"""The model description of an FMU as fmpy reads it, with small offences mended before."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from cosim_fmi.archive import FmuArchive

Element = Any
"""Of lxml."""
PARAMETERS = ("parameter", "calculatedParameter", "structuralParameter")
ALLOWED: dict[str, tuple[str | None, ...]] = {
    **dict.fromkeys(PARAMETERS, ("fixed", "tunable")),
    "input": (None, "discrete", "continuous"),
    "output": (None, "constant", "discrete", "continuous"),
}
"""Variabilities by causality."""
REAL = ("Real", "Float32", "Float64")
TYPES_2 = ("Real", "Integer", "Boolean", "String", "Enumeration")
OF_TYPES = (
    *("name", "description", "quantity", "unit", "displayUnit", "relativeQuantity", "min", "max", "nominal"),
    "unbounded",
)
"""Attributes of type definitions that fmpy knows; others make it fail."""


def read_model_description(archive: FmuArchive) -> tuple[Any, dict[str, Element]]:
    """What fmpy makes of the model description of a checked archive.

    What fmpy, or the standard, does not allow, but does no harm, is mended before: parameters without a
    variability, lists with blanks too many, dependencies on what is not there, types that are not defined or
    have attributes of others.

    Parameters
    ----------
    archive : FmuArchive
        It has neither a document type nor entities.

    Returns
    -------
    fmpy.model_description.ModelDescription
    dict of str to Element
        Elements of the variables, for what fmpy leaves out. Clocks have the attributes of their types.

    Raises
    ------
    Exception
        Of any kind, when it cannot be understood.
    """
    from fmpy import read_model_description
    from lxml import etree

    root = _parse(archive.description)
    variables = _variables(root)
    for clock in root.findall("ModelVariables/Clock"):
        kinds = root.findall("TypeDefinitions/ClockType")
        for kind in (k for k in kinds if k.get("name") == clock.get("declaredType")):
            clock.attrib.update({**kind.attrib, **clock.attrib})
    types = _mend_types(root)
    for variable, value in variables:
        _mend_variable(variable, value, types, len(variables), archive.version)
    third = archive.version.startswith("3")
    references = [v.get("valueReference", "") for v, _ in variables]
    known = set(references if third else map(str, range(1, len(variables) + 1)))
    _mend_structure(root, known, "valueReference" if third else "index")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as mended:
        mended.writestr("modelDescription.xml", etree.tostring(root, encoding="utf-8"))
    read = read_model_description(file, validate=False)
    if archive.version == "1.0" and read.coSimulation is not None:  # fmpy leaves them out
        for able in root.findall("Implementation/*/Capabilities"):
            for name in (name for name in able.attrib if hasattr(read.coSimulation, name)):
                setattr(read.coSimulation, name, able.get(name) in ("true", "1"))
    if third:  # fmpy looks for FMI 2.0's name, without the last letter
        for element, ability in (("ModelExchange", read.modelExchange), ("CoSimulation", read.coSimulation)):
            if ability is not None and (found := root.find(element)) is not None:
                given = found.get("providesDirectionalDerivatives", "").strip()
                ability.providesDirectionalDerivative = given in ("true", "1")
        # fmpy lists other names of variables as variables, but what is given to an input is given once
        for variable in read.modelVariables:
            if variable.alias is not None and variable.causality == "input":
                variable.causality, variable.initial = "local", "calculated"
    return read, {variable.get("name"): variable for variable, _ in variables}


def _parse(document: bytes) -> Element:
    """The document without comments, as an element of lxml, which fmpy reads with, too."""
    from lxml import etree

    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)
    try:
        return etree.fromstring(document, parser)
    except etree.XMLSyntaxError:  # it may have an encoding that Python alone knows ("latin-1", "cp437")
        return etree.fromstring(ElementTree.tostring(ElementTree.fromstring(document)))


def _variables(root: Element) -> list[tuple[Element, Element]]:
    """Each variable, and the element with its value; in FMI 3.0 they are one."""
    found = []
    for variable in root.findall("ModelVariables/*"):
        if variable.get("name") is None:
            continue
        inner = [child for child in variable if child.tag in TYPES_2]
        if variable.tag == "ScalarVariable" and not inner:
            raise ValueError(f"variable {variable.get('name')} has no type")
        found.append((variable, inner[0] if variable.tag == "ScalarVariable" else variable))
    return found


def _mend_types(root: Element) -> set[str]:
    """Leave the attributes that fmpy knows; the names of the types that it reads."""
    names = set()
    for kind in root.findall("TypeDefinitions/*"):
        inner = kind[0] if kind.tag in ("SimpleType", "Type") else kind
        for element in (kind, inner, *inner.findall("Item")):
            allowed = (*OF_TYPES, "value") if element.tag == "Item" else OF_TYPES
            for name in [name for name in element.attrib if name not in allowed]:
                del element.attrib[name]
        if kind.tag != "ClockType":
            names.add(kind.get("name", ""))
    return names


def _mend_variable(variable: Element, value: Element, types: set[str], count: int, version: str) -> None:
    causality = variable.get("causality", "local")
    if version != "1.0" and causality in ALLOWED and variable.get("variability") not in ALLOWED[causality]:
        usual = "continuous" if value.tag in REAL else "discrete"
        variable.set("variability", "fixed" if causality in PARAMETERS else usual)
    if value.get("declaredType") not in types:
        value.attrib.pop("declaredType", None)
    if "clocks" in variable.attrib:
        variable.set("clocks", " ".join(variable.get("clocks", "").split()))
    if variable is not value:
        derivative = value.get("derivative", "1").strip()
        if not derivative.isdigit() or not 1 <= int(derivative) <= count:
            del value.attrib["derivative"]


def _mend_structure(root: Element, known: set[str], key: str) -> None:
    """Take out what points nowhere; without its dependencies an output depends on everything."""
    for parent, unknown in list(_unknowns(root)):
        if unknown.get(key) not in known:
            parent.remove(unknown)
            continue
        if "dependencies" in unknown.attrib:
            listed = unknown.get("dependencies", "").split()
            if set(listed) <= known:
                unknown.set("dependencies", " ".join(listed))
            else:
                del unknown.attrib["dependencies"]
                unknown.attrib.pop("dependenciesKind", None)
        if "dependenciesKind" in unknown.attrib:
            unknown.set("dependenciesKind", " ".join(unknown.get("dependenciesKind", "").split()))


def _unknowns(root: Element) -> Iterator[tuple[Element, Element]]:
    """What the model structure lists, but for continuous states, which are always needed."""
    for structure in root.findall("ModelStructure"):
        for child in structure:
            if child.tag in ("Outputs", "InitialUnknowns"):
                yield from ((child, unknown) for unknown in child)
            elif child.tag in ("Output", "InitialUnknown"):
                yield structure, child
