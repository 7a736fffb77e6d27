"""Parameter sets, mappings and their references: units, enumerations, transformations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import UnitDefinition, parse_unit
from cosim_master.coupling.unit_conversion import Quantity
from cosim_ssp.package import Package, path_of, problem_of
from cosim_ssp.structure import INTEGERS, REALS, TYPES, Transformation, Unit, Value
from cosim_ssp.xml_document import Element, child, children, first_child, local_name

EXPONENTS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
TRUE, FALSE = ("true", "1"), ("false", "0")
MAPPINGS = tuple(f"{kind}MappingTransformation" for kind in ("Boolean", "Integer", "Enumeration"))


@dataclass(frozen=True)
class Document:
    """A document that is being read.

    Attributes
    ----------
    name : str
        Path in the package.
    units : mapping of str to Unit or None
        None for those that say nothing.
    enumerations : mapping of str to dict
    """

    package: Package
    name: str
    root: Element
    units: Mapping[str, Unit | None]
    enumerations: Mapping[str, Mapping[str, int]]

    def place(self, element: Element) -> str:
        """``file:line`` of an element."""
        return f"{self.name}:{element.sourceline}"

    def say(self, element: Element, text: str) -> None:
        """Add a finding at the place of an element."""
        self.package.say(self.place(element), text)

    def unit(self, element: Element) -> Unit | None:
        """The unit that a type element names; None when it says nothing, or nothing that is known."""
        name = element.get("unit")
        if not name:
            return None
        if name not in self.units:
            self.say(element, f"unit '{name}' is not defined in this document; the FMU's unit is used")
        return self.units.get(name)

    def items(self, element: Element) -> Mapping[str, int] | None:
        """The items of the enumeration that a type element names."""
        name = element.get("name")
        if name and name not in self.enumerations:
            self.say(element, f"enumeration '{name}' is not defined in this document")
        return self.enumerations.get(name) if name else None


def open_document(package: Package, name: str, root: Element, expected: str) -> Document:
    """A document with its units and enumerations.

    Raises
    ------
    ValueError
        Its root is another element.
    """
    if local_name(root) != expected:
        raise ValueError(f"{name}:{root.sourceline}: its root is <{local_name(root)}>, not <{expected}>")
    document = Document(package, name, root, {}, {})
    version = root.get("version")
    if version not in ("1.0", "2.0"):
        document.say(root, f"version is {version!r}, 1.0 and 2.0 are known; read as 2.0")
    units = {e.get("name", ""): _unit(document, e) for e in children(child(root, "Units"), "Unit")}
    enumerations = {
        e.get("name", ""): {
            i.get("name", ""): read_integer(document, i, "value") for i in children(e, "Item")
        }
        for e in children(child(root, "Enumerations"), "Enumeration")
    }
    return replace(document, units=units, enumerations=enumerations)


def read_number(document: Document, element: Element, name: str, default: float) -> float:
    """A number of an attribute.

    Raises
    ------
    ValueError
        With a place and a sentence.
    """
    text = element.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{document.place(element)}: {name} is {text!r}, needs a finite number")
    return value


def read_integer(document: Document, element: Element, name: str) -> int:
    """An integer of an attribute, 0 unless given; raises as `read_number` does."""
    text = element.get(name)
    try:
        return 0 if text is None else int(text)
    except ValueError:
        raise ValueError(f"{document.place(element)}: {name} is {text!r}, needs an integer") from None


def read_boolean(document: Document, element: Element, name: str) -> bool:
    """A boolean of an attribute, false unless given; raises as `read_number` does."""
    text = element.get(name, "false").strip().lower()
    if text not in (*TRUE, *FALSE):
        raise ValueError(f"{document.place(element)}: {name} is {text!r}, needs true or false")
    return text in TRUE


def transformation_of(document: Document, element: Element) -> Transformation | None:
    """The transformation of a connection or of an entry of a mapping.

    Raises
    ------
    ValueError
        A number that is none, or a value that is mapped twice.
    """
    linear = child(element, "LinearTransformation")
    if linear is not None:
        scale = read_number(document, linear, "factor", 1.0), read_number(document, linear, "offset", 0.0)
        return Transformation(*scale)
    for name in MAPPINGS:
        table = child(element, name)
        if table is not None:
            entries = [(e.get("source", ""), e.get("target", "")) for e in children(table, "MapEntry")]
            sources = [source for source, _ in entries]
            twice = next((source for source in sources if sources.count(source) > 1), None)
            if twice is not None:
                raise ValueError(f"{document.place(table)}: {twice!r} is mapped twice")
            return Transformation(entries=tuple(entries), names_items=name.startswith("Enumeration"))
    return None


def binding_values(document: Document, holder: Element, component: str) -> list[Value]:
    """The values of the parameter bindings of an element, in order.

    Parameters
    ----------
    document : Document
        The document of `holder`.
    holder : Element
        Component or system.
    component : str
        Path of the component's file in the package, for sources inside it.

    Raises
    ------
    ValueError
        With a place and a sentence.
    """
    bound: list[Value] = []
    lists = children(holder, "ParameterBindings")
    for binding in (binding for bindings in lists for binding in children(bindings, "ParameterBinding")):
        kind = binding.get("type", "application/x-ssp-parameter-set")
        if kind != "application/x-ssp-parameter-set":
            document.say(binding, f"a parameter source of type {kind} is not read")
            continue
        values = _values(document, binding, component)
        prefix = binding.get("prefix", "")
        values = [replace(value, name=prefix + value.name) for value in values]
        mapping = child(binding, "ParameterMapping")
        bound += values if mapping is None else _mapped(document, mapping, values, component)
    return bound


def parameter_set(document: Document) -> list[Value]:
    """The values of a parameter set."""
    return [
        value
        for element in children(child(document.root, "Parameters"), "Parameter")
        if (value := _value(document, element)) is not None
    ]


def _unit(document: Document, element: Element) -> Unit | None:
    name, base = element.get("name", ""), child(element, "BaseUnit")
    if base is None:
        document.say(element, f"unit '{name}' has no <BaseUnit>: the FMU's unit is used")
        return None
    exponents = tuple(read_integer(document, base, key) for key in EXPONENTS)
    factor, offset = read_number(document, base, "factor", 1.0), read_number(document, base, "offset", 0.0)
    if factor == 0.0:
        raise ValueError(f"{document.place(base)}: unit '{name}' has the factor 0")
    if not any(exponents) and (factor, offset) == (1.0, 0.0):
        return None  # a plain number, or a unit whose author did not say what it means: nothing is converted
    return Unit(name, UnitDefinition(exponents, factor, offset))


def _values(document: Document, binding: Element, component: str) -> list[Value]:
    content = first_child(child(binding, "ParameterValues"))
    inner = _inner(document, binding, content, "ParameterSet", component)
    if inner is None:
        document.say(binding, "this parameter binding has neither a source nor values")
        return []
    if binding.get("source") is None:
        # units and enumerations of the set itself count, then those of the document around it
        units = {**document.units, **inner.units}
        enumerations = {**document.enumerations, **inner.enumerations}
        inner = replace(inner, units=units, enumerations=enumerations)
    return parameter_set(inner)


def _inner(
    document: Document, element: Element, content: Element | None, kind: str, component: str
) -> Document | None:
    """The document that an element refers to, or has as its content; None when there is neither."""
    source, package = element.get("source"), document.package
    if source is None:
        return None if content is None else open_document(package, document.name, content, kind)
    try:
        if element.get("sourceBase", "SSD") == "component":
            member = path_of(source, "here")[0]
            name, root = f"{component}/{member}", package.read_inside(component, member)
        else:
            name = package.path_of(source, document.name)[0]
            root = package.read(name)
    except ValueError as error:
        raise ValueError(f"{document.place(element)}: {error}") from None
    return open_document(package, name, root, kind)


def _mapped(document: Document, mapping: Element, values: list[Value], component: str) -> list[Value]:
    """The values that the mapping names, by its names."""
    inner = _inner(document, mapping, first_child(mapping), "ParameterMapping", component)
    if inner is None:
        document.say(mapping, "this parameter mapping has neither a source nor entries")
        return values
    by_name = {value.name: value for value in values}
    mapped = []
    for entry in children(inner.root, "MappingEntry"):
        name, target = entry.get("source", ""), entry.get("target") or entry.get("destination")
        if target is None:
            raise ValueError(f"{inner.place(entry)}: this entry has no target")
        if entry.get("target") is None:
            inner.say(entry, "the target is in the attribute 'destination'")
        if name not in by_name:
            inner.say(entry, f"there is no parameter '{name}' in what is mapped here")
            continue
        change, raw = transformation_of(inner, entry), read_boolean(inner, entry, "suppressUnitConversion")
        mapped.append(replace(by_name[name], name=target, transformation=change, suppresses_units=raw))
    return mapped


def _value(document: Document, element: Element) -> Value | None:
    name = element.get("name", "")
    typed = next((e for e in element if local_name(e) in TYPES), None)
    if typed is None:
        document.say(element, f"parameter '{name}' has no value of a type that is known")
        return None
    kind = local_name(typed)
    data = _data(document, typed, kind)
    if data is None:
        return None
    shape = [read_integer(document, d, "size") for d in children(element, "Dimension")]
    if shape or (isinstance(data, list) and len(data) > 1):
        data = data if isinstance(data, list) else [data]
        if shape and math.prod(shape) != len(data):
            size = "×".join(map(str, shape))
            raise ValueError(f"{document.place(element)}: '{name}' has {len(data)} values, needs {size}")
    elif isinstance(data, list):
        data = data[0]
    items = document.items(typed) if kind == "Enumeration" else None
    return Value(name, kind, data, document.unit(typed), items, place=document.place(element))


def _data(document: Document, typed: Element, kind: str) -> Any:
    """The value of a parameter, or a list of values."""
    inner = [e.get("value", "") for e in children(typed, "Value")]
    text = typed.get("value")
    if text is None and not inner:
        document.say(typed, "has no value: skipped")
        return None
    if kind in ("String", "Enumeration"):
        return inner or text
    try:
        if kind == "Binary":
            chunks = [bytes.fromhex(part) for part in inner or [text or ""]]
            return chunks if inner else chunks[0]
        words = (text or "").split()
        if kind in REALS:
            return [float(word) for word in words]
        if kind in INTEGERS:
            return [int(word) for word in words]
        if kind == "Boolean":
            wrong = [word for word in words if word.lower() not in (*TRUE, *FALSE)]
            if not wrong:
                return [word.lower() in TRUE for word in words]
    except ValueError:
        pass
    raise ValueError(f"{document.place(typed)}: value is {text!r}, which is not of type {kind}")


def read_ssv(path: Path) -> dict[str, tuple[Any, str]]:
    """Values and places of a file, by name.

    Raises
    ------
    ModelError
        With the line that is wrong.
    """
    package = Package(path)
    try:
        document = open_document(package, path.name, package.read(path.name), "ParameterSet")
        values = parameter_set(document)
    except ValueError as error:
        fault = problem_of(str(error))
        raise cosim.ModelError.of(str(path.parent / fault.where), fault.text) from None
    return {value.name: (_scenario_value(value), str(path.parent / value.place)) for value in values}


def _scenario_value(value: Value) -> Any:
    """A value as a scenario may have it."""
    if isinstance(value.data, list):
        return value.data
    if isinstance(value.data, str) and value.items and value.data in value.items:
        return value.items[value.data]
    return value.data if value.unit is None else _quantity(value.data, value.unit)


def _quantity(number: float, unit: Unit) -> Quantity:
    """The number in the unit of the document, or in base units where its name means something else to us."""
    exponents, factor, offset = unit.definition
    try:
        parsed = parse_unit(unit.name)
        same = parsed.exponents == tuple(exponents) and math.isclose(parsed.factor, factor, rel_tol=1e-12)
        if same and math.isclose(parsed.offset, offset, rel_tol=1e-12):
            return Quantity(number, unit.name)
    except cosim.UnitError:
        pass
    base = ".".join(f"{name}{n if n != 1 else ''}" for name, n in zip(EXPONENTS, exponents, strict=True) if n)
    return Quantity(factor * number + offset, base or "1")
