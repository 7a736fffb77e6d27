"""Reads modelDescription.xml of FMI 1.0, 2.0 and 3.0.

Small offences against the standard that do no harm are accepted: parameters without a variability, lists with
too many blanks, dependencies on variables that do not exist, types that are not defined or have attributes of
other types.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from xml.etree.ElementTree import Element

from cosim_fmi.description.model_description import (
    Abilities,
    BaseUnit,
    DeclaredExperiment,
    DeclaredType,
    DeclaredVariable,
    ModelDescription,
    Unknown,
)

PARAMETERS = ("parameter", "calculatedParameter", "structuralParameter")
REAL_TYPES = ("Real", "Float32", "Float64")
TYPES = {
    "1.0": ("Real", "Integer", "Boolean", "String", "Enumeration"),
    "2.0": ("Real", "Integer", "Boolean", "String", "Enumeration"),
    "3.0": (
        *("Float32", "Float64", "Boolean", "String", "Binary", "Enumeration", "Clock"),
        *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
    ),
}
"""Types of variables by version of FMI."""
ALLOWED: dict[str, tuple[str | None, ...]] = {
    **dict.fromkeys(PARAMETERS, ("fixed", "tunable")),
    "input": (None, "discrete", "continuous"),
    "output": (None, "constant", "discrete", "continuous"),
}
"""Variabilities by causality; None where the standard has a default."""
INITIAL_OF_PARAMETERS: dict[str, str | None] = {
    **{"structuralParameter": "exact", "parameter": "exact"},
    **{"calculatedParameter": "calculated", "local": "calculated"},
}
INITIAL: dict[str, dict[str, str | None]] = {
    "constant": {"output": "exact", "local": "exact"},
    "fixed": INITIAL_OF_PARAMETERS,
    "tunable": INITIAL_OF_PARAMETERS,
    "discrete": {"input": "exact", "output": "calculated", "local": "calculated"},
    "continuous": {"input": "exact", "output": "calculated", "local": "calculated", "independent": None},
}
"""The default of `initial`, by variability and causality."""
EXPONENTS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
"""Attributes of a base unit, in the order of `BaseUnit.exponents`."""


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
    by_key = _by_key(variables, version)
    listed = {"Outputs": "Output", "InitialUnknowns": "InitialUnknown"}
    outputs, initial = (
        _unknowns(root, f"{plural}/Unknown" if version == "2.0" else one, by_key)
        for plural, one in listed.items()
    )
    indicators = int(root.get("numberOfEventIndicators", "0"))
    rates = _rate_variables(root, version, by_key)
    if version == "1.0":
        states = int(root.get("numberOfContinuousStates", "0"))
    elif version == "2.0":
        states = len(root.findall("ModelStructure/Derivatives/Unknown"))
    else:
        states = _count(root, "ContinuousStateDerivative", by_key)
        indicators += _count(root, "EventIndicator", by_key)
    return ModelDescription(
        version=version,
        token=root.get("instantiationToken" if version == "3.0" else "guid", ""),
        name=root.get("modelName", ""),
        tool=root.get("generationTool", ""),
        naming=root.get("variableNamingConvention", "flat"),
        interfaces={
            interface: abilities
            for interface in ("CoSimulation", "ModelExchange")
            if (abilities := _abilities(root, interface, version)) is not None
        },
        variables=variables,
        outputs=outputs,
        initial_unknowns=initial,
        states=states,
        indicators=indicators,
        state_variables=_state_variables(rates, by_key),
        rate_variables=rates,
        base_units=_base_units(root),
        log_categories=tuple(each.get("name", "") for each in root.findall("LogCategories/Category")),
        experiment=_experiment(root),
    )


def _by_key(variables: Sequence[DeclaredVariable], version: str) -> dict[str, DeclaredVariable]:
    """Variables by their names in the model structure: counted from 1, or value references (FMI 3.0)."""
    if version != "3.0":
        return {str(i): variable for i, variable in enumerate(variables, start=1)}
    return {str(variable.reference): variable for variable in reversed(variables)}


def _unknowns(root: Element, path: str, by_key: Mapping[str, DeclaredVariable]) -> list[Unknown]:
    """The unknowns of the model structure; references to nothing are left out."""
    key = "index" if "/" in path else "valueReference"

    @cache
    def depends(text: str) -> tuple[DeclaredVariable, ...] | None:
        listed = [by_key.get(name) for name in text.split()]
        return None if None in listed else tuple(listed)  # type: ignore[arg-type]

    unknowns = []
    for element in root.findall(f"ModelStructure/{path}"):
        variable = by_key.get(element.get(key, ""))
        if variable is not None:
            text = element.get("dependencies")
            unknowns.append(Unknown(variable, None if text is None else depends(text)))
    return unknowns


def _rate_variables(
    root: Element, version: str, by_key: Mapping[str, DeclaredVariable]
) -> tuple[DeclaredVariable, ...]:
    """The derivatives of the continuous states."""
    if version == "1.0":
        return ()
    path = "Derivatives/Unknown" if version == "2.0" else "ContinuousStateDerivative"
    return tuple(each.variable for each in _unknowns(root, path, by_key))


def _state_variables(
    rates: Sequence[DeclaredVariable], by_key: Mapping[str, DeclaredVariable]
) -> tuple[DeclaredVariable, ...]:
    """The continuous states; none where one of the derivatives does not say whose it is."""
    variables = [by_key.get((rate.derivative_of or "").strip()) for rate in rates]
    return () if None in variables else tuple(variables)  # type: ignore[arg-type]


def _count(root: Element, tag: str, by_key: Mapping[str, DeclaredVariable]) -> int:
    """How many numbers the variables have together that the model structure lists under this tag."""
    total = 0
    for element in root.findall(f"ModelStructure/{tag}"):
        reference = element.get("valueReference", "").strip()
        if reference not in by_key:
            raise ValueError(f"{tag} refers to {reference!r}, which does not exist")
        total += math.prod(by_key[reference].sizes())
    return total


def _abilities(root: Element, interface: str, version: str) -> Abilities | None:
    """The abilities of an interface; None if it is not offered."""
    if version == "1.0":
        implemented = root.find("Implementation")
        if (implemented is not None) != (interface == "CoSimulation"):
            return None
        identifier = root.get("modelIdentifier", "")
        attributes: Mapping[str, str] = {
            name: text
            for able in root.findall("Implementation/*/Capabilities")
            for name, text in able.items()
        }
    else:
        elements = root.findall(interface)
        if not elements:
            return None
        attributes = elements[-1].attrib
        identifier = attributes.get("modelIdentifier", "")
    state_word, plural_ending = ("State", "s") if version == "3.0" else ("state", "")

    def able(name: str) -> bool:
        return attributes.get(name) in ("true", "1")

    steps = interface == "CoSimulation"
    return Abilities(
        identifier=identifier,
        needs_tool=able("needsExecutionTool"),
        only_once=able("canBeInstantiatedOnlyOncePerProcess"),
        saves=able(f"canGetAndSetFMU{state_word}"),
        serializes=able(f"canSerializeFMU{state_word}"),
        directional_derivatives=able(f"providesDirectionalDerivative{plural_ending}"),
        variable_step=steps and able("canHandleVariableCommunicationStepSize"),
        interpolates_inputs=steps and able("canInterpolateInputs"),
        event_mode=steps and able("hasEventMode"),
        intermediate_update=steps and able("providesIntermediateUpdate"),
        wants_steps=not steps and _wants_steps(attributes, version),
    )


def _wants_steps(attributes: Mapping[str, str], version: str) -> bool:
    if version == "2.0":
        return attributes.get("completedIntegratorStepNotNeeded") not in ("true", "1")
    return version == "3.0" and attributes.get("needsCompletedIntegratorStep") in ("true", "1")


def _base_units(root: Element) -> dict[str, BaseUnit]:
    units = {}
    for unit in root.findall("UnitDefinitions/Unit"):
        for base in unit.findall("BaseUnit"):
            exponents = tuple(int(base.get(name, "0")) for name in EXPONENTS)
            factor, offset = (
                float(base.get(name, usual)) for name, usual in (("factor", "1"), ("offset", "0"))
            )
            units[unit.get("name", "")] = BaseUnit(exponents, factor, offset)
    return units


def _experiment(root: Element) -> DeclaredExperiment | None:
    elements = root.findall("DefaultExperiment")
    if not elements:
        return None
    attribute = elements[-1].get
    return DeclaredExperiment(
        attribute("startTime"), attribute("stopTime"), attribute("tolerance"), attribute("stepSize")
    )


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
        _add_fmi1_attributes(elements, variables)
    if version == "3.0":
        variables += _add_fmi3_attributes(elements, variables, root.findall("TypeDefinitions/ClockType"))
    return variables


def _variable(element: Element, version: str, types: Mapping[str | None, DeclaredType]) -> DeclaredVariable:
    attribute = element.get
    value = element if version == "3.0" else next((e for e in element if e.tag in TYPES[version]), None)
    if value is None:
        raise ValueError(f"variable {attribute('name')} has no type")
    kind, typed = value.tag, value.get
    if kind not in TYPES[version]:
        raise ValueError(
            f"variable {attribute('name')} has the type {kind}, which is not a type of FMI {version}"
        )
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
    is_real = kind in REAL_TYPES
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
        usual = "continuous" if kind in REAL_TYPES else "discrete"
        variability = "fixed" if causality in PARAMETERS else usual
    if variability is None:
        variability = "continuous" if version != "3.0" or kind in REAL_TYPES else "discrete"
    return causality, variability


def _default_initial(element: Element, causality: str, variability: str) -> str | None:
    try:
        return INITIAL[variability][causality]
    except KeyError:
        raise ValueError(
            f"variable {element.get('name')} cannot have causality {causality!r} and variability "
            f"{variability!r}"
        ) from None


def _add_fmi1_attributes(elements: Sequence[Element], variables: Sequence[DeclaredVariable]) -> None:
    """Read the attributes that only variables of FMI 1.0 have."""
    for element, variable in zip(elements, variables, strict=True):
        variable.is_negated = element.get("alias") == "negatedAlias"
        direct = element.find("DirectDependency")
        if direct is not None:
            names = ("".join(name.itertext()).strip() for name in direct.findall("Name"))
            variable.direct_dependencies = tuple(names)


def _add_fmi3_attributes(
    elements: Sequence[Element], variables: Sequence[DeclaredVariable], clock_types: Sequence[Element]
) -> list[DeclaredVariable]:
    """Read the attributes that only variables of FMI 3.0 have. Returns their aliases as variables."""
    kinds = {kind.get("name"): kind.attrib for kind in clock_types}
    by_reference = {str(variable.reference): variable for variable in variables}

    def find(variable: DeclaredVariable, text: str) -> DeclaredVariable:
        try:
            return by_reference[text.strip()]
        except KeyError:
            raise ValueError(f"variable {variable.name} refers to {text!r}, which does not exist") from None

    others = []
    for element, variable in zip(elements, variables, strict=True):
        variable.updates_inside = element.get("intermediateUpdate") in ("true", "1")
        variable.clocks = tuple(find(variable, text) for text in element.get("clocks", "").split())
        if variable.type == "Clock":
            variable.clock = {**kinds.get(element.get("declaredType"), {}), **element.attrib}
        if not len(element):
            continue
        starts = tuple(start.get("value", "") for start in element.findall("Start"))
        variable.start = starts or variable.start
        variable.dimensions = tuple(
            int(start) if start is not None else find(variable, dimension.get("valueReference", ""))
            for dimension in element.findall("Dimension")
            for start in [dimension.get("start")]
        )
        others += [_aliased(variable, alias) for alias in element.findall("Alias")]
    return others


def _aliased(variable: DeclaredVariable, alias: Element) -> DeclaredVariable:
    """A variable under another name; that of an input is not a second input, so that it is set only once."""
    other = replace(
        variable,
        name=alias.get("name", ""),
        description=alias.get("description") or variable.description,
    )
    if variable.causality == "input":
        other.causality, other.initial = "local", "calculated"
    return other
