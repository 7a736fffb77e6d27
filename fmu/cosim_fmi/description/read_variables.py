"""Reads the variables of modelDescription.xml, and the types that they name.

Small offences against the standard that do no harm are let pass: parameters without a variability, types that
are not defined or have attributes of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

from cosim_fmi.description.model_description import DeclaredType, DeclaredVariable, is_true

PARAMETERS = ("parameter", "calculatedParameter", "structuralParameter")
REAL = ("Real", "Float32", "Float64")
TYPES = {
    "1.0": ("Real", "Integer", "Boolean", "String", "Enumeration"),
    "2.0": ("Real", "Integer", "Boolean", "String", "Enumeration"),
    "3.0": (
        *("Float32", "Float64", "Boolean", "String", "Binary", "Enumeration", "Clock"),
        *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
    ),
}
"""Types by version of FMI."""
ALLOWED: dict[str, tuple[str | None, ...]] = {
    **dict.fromkeys(PARAMETERS, ("fixed", "tunable")),
    "input": (None, "discrete", "continuous"),
    "output": (None, "constant", "discrete", "continuous"),
}
"""Variabilities by causality; None where the standard has a default."""
OF_PARAMETERS: dict[str, str | None] = {
    **{"structuralParameter": "exact", "parameter": "exact"},
    **{"calculatedParameter": "calculated", "local": "calculated"},
}
INITIAL: dict[str, dict[str, str | None]] = {
    "constant": {"output": "exact", "local": "exact"},
    "fixed": OF_PARAMETERS,
    "tunable": OF_PARAMETERS,
    "discrete": {"input": "exact", "output": "calculated", "local": "calculated"},
    "continuous": {"input": "exact", "output": "calculated", "local": "calculated", "independent": None},
}
"""The default of `initial`, by variability and causality."""


def read_types(root: Element, version: str) -> dict[str | None, DeclaredType]:
    """Type definitions by name; those of clocks are read with the clocks.

    Parameters
    ----------
    root : Element
    version : str
        "1.0", "2.0" or "3.0".
    """
    types: dict[str | None, DeclaredType] = {}
    for element in root.findall("TypeDefinitions/*"):
        value = element[0] if element.tag in ("SimpleType", "Type") and len(element) else element
        if element.tag == "ClockType":
            continue
        items = [
            (item.get("name", ""), str(i) if version == "1.0" else item.get("value", ""))
            for i, item in enumerate(value.findall("Item"), start=1)
        ]
        name, attribute = element.get("name", ""), value.get
        types[name] = DeclaredType(
            name, attribute("unit"), attribute("min"), attribute("max"), attribute("nominal"), tuple(items)
        )
    return types


def read_variables(root: Element, version: str) -> list[DeclaredVariable]:
    """Variables in the order of the file, and behind them their other names (FMI 3.0).

    Parameters
    ----------
    root : Element
    version : str
        "1.0", "2.0" or "3.0".

    Raises
    ------
    ValueError
        With a sentence, where one cannot be understood.
    """
    listed = root.find("ModelVariables")
    if listed is None:
        raise ValueError("it has no ModelVariables")
    types = read_types(root, version)
    elements = [element for element in listed if element.get("name") is not None]
    variables = [_variable(element, version, types) for element in elements]
    if version == "1.0":
        _read_attributes_of_fmi1(elements, variables)
    if version == "3.0":
        _read_attributes_of_fmi3(elements, variables, root.findall("TypeDefinitions/ClockType"))
        variables += _aliases(elements, variables)
    return variables


def _variable(element: Element, version: str, types: Mapping[str | None, DeclaredType]) -> DeclaredVariable:
    attribute = element.get
    value = element if version == "3.0" else next((e for e in element if e.tag in TYPES[version]), None)
    if value is None:
        raise ValueError(f"variable {attribute('name')} has no type")
    kind, typed = value.tag, value.get
    if kind not in TYPES[version]:
        raise ValueError(f"variable {attribute('name')} has the unknown type {kind}")
    try:
        reference = int(attribute("valueReference", ""))
    except ValueError as error:
        raise ValueError(
            f"variable {attribute('name')}: its valueReference is not a number ({error})"
        ) from None
    causality, variability = _causality_and_variability(element, kind, version)
    initial = attribute("initial")
    if initial is None and version != "1.0":
        initial = _default_initial(element, causality, variability)
    is_real = kind in REAL
    return DeclaredVariable(
        name=attribute("name", ""),
        reference=reference,
        type=kind,
        causality=causality,
        variability=variability,
        initial=initial,
        start=typed("start"),
        unit=typed("unit") if is_real else None,
        minimum=typed("min"),
        maximum=typed("max"),
        nominal=typed("nominal"),
        description=attribute("description"),
        declared_type=types.get(typed("declaredType")),
        derivative_of=typed("derivative") if is_real and version != "1.0" else None,
    )


def _causality_and_variability(element: Element, kind: str, version: str) -> tuple[str, str]:
    """Causality and variability; a variability that the causality does not allow is the usual one."""
    causality, variability = element.get("causality", "local"), element.get("variability")
    if version == "1.0":
        if variability == "parameter":
            causality, variability = "parameter", "fixed"
        elif causality == "internal":
            causality = "local"
    elif causality in ALLOWED and variability not in ALLOWED[causality]:
        usual = "continuous" if kind in REAL else "discrete"
        variability = "fixed" if causality in PARAMETERS else usual
    if variability is None:
        variability = "continuous" if version != "3.0" or kind in REAL else "discrete"
    return causality, variability


def _default_initial(element: Element, causality: str, variability: str) -> str | None:
    try:
        return INITIAL[variability][causality]
    except KeyError:
        raise ValueError(
            f"variable {element.get('name')} cannot have causality {causality!r} and variability "
            f"{variability!r}"
        ) from None


def _read_attributes_of_fmi1(elements: Sequence[Element], variables: Sequence[DeclaredVariable]) -> None:
    """Read the attributes that only variables of FMI 1.0 have."""
    for element, variable in zip(elements, variables, strict=True):
        variable.is_negated = element.get("alias") == "negatedAlias"
        direct = element.find("DirectDependency")
        if direct is not None:
            names = ("".join(name.itertext()).strip() for name in direct.findall("Name"))
            variable.direct_dependencies = tuple(names)


def _read_attributes_of_fmi3(
    elements: Sequence[Element], variables: Sequence[DeclaredVariable], clock_types: Sequence[Element]
) -> None:
    """Read the attributes that only variables of FMI 3.0 have: clocks, dimensions, several start values."""
    attributes_of_types = {clock_type.get("name"): clock_type.attrib for clock_type in clock_types}
    by_reference = {str(variable.reference): variable for variable in variables}

    def find(variable: DeclaredVariable, reference: str) -> DeclaredVariable:
        try:
            return by_reference[reference.strip()]
        except KeyError:
            raise ValueError(
                f"variable {variable.name} refers to {reference!r}, which does not exist"
            ) from None

    for element, variable in zip(elements, variables, strict=True):
        variable.updates_inside = is_true(element.get("intermediateUpdate"))
        variable.clocks = tuple(find(variable, clock) for clock in element.get("clocks", "").split())
        if variable.type == "Clock":
            variable.clock = {**attributes_of_types.get(element.get("declaredType"), {}), **element.attrib}
        if not len(element):
            continue
        starts = tuple(start.get("value", "") for start in element.findall("Start"))
        variable.start = starts or variable.start
        variable.dimensions = tuple(
            find(variable, dimension.get("valueReference", "")) if size is None else int(size)
            for dimension in element.findall("Dimension")
            for size in [dimension.get("start")]
        )


def _aliases(elements: Sequence[Element], variables: Sequence[DeclaredVariable]) -> list[DeclaredVariable]:
    """The other names of variables, each as a variable.

    An input is written by its first name alone: its aliases are calculated local variables.
    """
    aliases = []
    for element, variable in zip(elements, variables, strict=True):
        for alias in element.findall("Alias"):
            description = alias.get("description") or variable.description
            other = replace(variable, name=alias.get("name", ""), description=description)
            if variable.causality == "input":
                other.causality, other.initial = "local", "calculated"
            aliases.append(other)
    return aliases
