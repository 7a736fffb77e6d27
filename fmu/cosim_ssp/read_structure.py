"""An SSD as plain data, with the documents that it refers to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cosim
from cosim_ssp.package import Package, problem_of
from cosim_ssp.read_parameters import Document, binding_values, open_document, read_boolean, transformation_of
from cosim_ssp.read_settings import read_settings
from cosim_ssp.structure import (
    KINDS,
    TYPES,
    Component,
    Connector,
    DictionaryReference,
    End,
    Node,
    Settings,
    System,
    Wire,
)
from cosim_ssp.tools import open_simulation_platform
from cosim_ssp.xml_document import NAMESPACES, Element, child, children, local_name

FMU, SSD, SSP = (
    "application/x-fmu-sharedlibrary",
    "application/x-ssp-definition",
    "application/x-ssp-package",
)
SUFFIXES = {".fmu": FMU, ".ssd": SSD, ".ssp": SSP}
DEEPEST = 32
"""Systems in systems, other documents included."""
MOST_ELEMENTS = 100_000
IMPLEMENTATIONS = ("any", "CoSimulation", "ModelExchange")


def read_ssp(package: Package, variant: str | None = None) -> tuple[System, Settings]:
    """The system of a package and how it is to be run.

    Raises
    ------
    ModelError
        All faults, each with its place; findings are in the package.
    """
    name = package.choose(variant)
    reader = _Reader()
    try:
        document = open_document(package, name, package.read(name), "SystemStructureDescription")
        system, settings = reader.read_document(document, 0), read_settings(document)
    except ValueError as error:
        raise cosim.ModelError([*reader.faults, problem_of(str(error))]) from None
    if reader.faults:
        raise cosim.ModelError(reader.faults)
    return system, settings


class _Reader:
    """Reads the systems of documents, and collects the faults of all elements."""

    def __init__(self) -> None:
        self.faults: list[cosim.Problem] = []
        self._count = 0

    def read_document(self, document: Document, depth: int) -> System:
        """The system of a document."""
        if not document.root.tag.startswith("{" + NAMESPACES["ssd"]):
            document.say(document.root, "is not in the namespace of SSP")
        top = child(document.root, "System")
        if top is None:
            raise ValueError(f"{document.name}: has no <System>")
        return self._read_system(document, top, depth)

    def _read_system(self, document: Document, element: Element, depth: int) -> System:
        """A system with all that it holds; `depth` is the number of systems around it."""
        if depth > DEEPEST:
            raise ValueError(f"{document.place(element)}: systems are nested more than {DEEPEST} deep")
        system = System(**self._read_common(document, element, ""))
        for listed in children(element, "Elements"):
            for inner in listed:
                self._read_element(document, system, inner, depth)
        system.dictionaries = frozenset(
            d.get("name", "") for d in children(child(element, "SignalDictionaries"), "SignalDictionary")
        )
        system.wires = [
            wire
            for listed in children(element, "Connections")
            for connection in children(listed, "Connection")
            if (wire := self._read_connection(document, connection)) is not None
        ]
        return system

    def _read_element(self, document: Document, system: System, element: Element, depth: int) -> None:
        """Add an element to a system; its fault is collected, so that the others are read as well."""
        kind = local_name(element)
        self._count += 1
        if self._count > MOST_ELEMENTS:
            raise ValueError(f"{document.place(element)}: there are more than {MOST_ELEMENTS} elements")
        try:
            if kind == "Component":
                node: Node = self._read_component(document, element, depth)
            elif kind == "System":
                node = self._read_system(document, element, depth + 1)
            elif kind == "SignalDictionaryReference":
                common = self._read_common(document, element, "")
                node = DictionaryReference(**common, dictionary=element.get("dictionary", ""))
            else:
                return
        except ValueError as error:
            self.faults.append(problem_of(str(error)))
            return
        if node.name in system.elements:
            text = f"there are two elements '{node.name}' in this system"
            self.faults.append(cosim.Problem(document.place(element), text))
        system.elements[node.name] = node

    def _read_common(self, document: Document, element: Element, file: str) -> dict[str, Any]:
        """What every element has, by the names of the fields of `Node`."""
        connectors: dict[str, Connector] = {}
        lists = children(element, "Connectors")
        for inner in (connector for listed in lists for connector in children(listed, "Connector")):
            connector = _read_connector(document, inner)
            if connector.name in connectors:
                document.say(inner, f"there are two connectors '{connector.name}'; the first one counts")
            connectors.setdefault(connector.name, connector)
        name = element.get("name", "")
        if not name:
            document.say(element, f"this {local_name(element)} has no name")
        try:
            values = binding_values(document, element, file)
        except ValueError as error:
            self.faults.append(problem_of(str(error)))
            values = []
        place = document.place(element)
        return {"name": name, "connectors": connectors, "values": values, "place": place}

    def _read_component(self, document: Document, element: Element, depth: int) -> Node:
        """A component, or the system that it refers to."""
        source = element.get("source", "").strip()
        if not source:
            # refuses unknown types: a component of a tool itself, which needs no file, does something
            self._type_of(document, element, "")
            kind = "no source" if element.get("source") is None else "an empty source"
            document.say(element, f"has {kind}: this component does nothing")
            return Component(**self._read_common(document, element, ""))
        if source.startswith("#"):
            return self._read_same_document(document, element, source[1:], depth)
        try:
            file, fragment = document.package.path_of(source, document.name)
        except ValueError as error:
            raise ValueError(f"{document.place(element)}: {error}") from None
        kind = self._type_of(document, element, file)
        implementation = element.get("implementation", "any")
        if implementation not in IMPLEMENTATIONS:
            text = f"implementation is {implementation!r}; {', '.join(IMPLEMENTATIONS)} can be run"
            raise ValueError(f"{document.place(element)}: {text}")
        common = self._read_common(document, element, file)
        if kind == FMU:
            step = open_simulation_platform.step_hint(document, element)
            return Component(
                **common, file=file, implementation=implementation, step=step, package=document.package
            )
        try:
            inner = self._read_referred(document, kind, file, fragment, depth)
        except (ValueError, cosim.ModelError) as error:
            raise ValueError(f"{document.place(element)}: {error}") from None
        return _placed(inner, common)

    def _read_referred(self, document: Document, kind: str, file: str, fragment: str, depth: int) -> System:
        """The system of another document or package."""
        if depth > DEEPEST:
            raise ValueError(f"systems are nested more than {DEEPEST} deep")
        package = document.package
        if kind == SSP:
            outer, package = package, Package(package.file(file))
            package.findings = outer.findings
            outer.nested.append(package)
            file = package.choose(fragment or None)
        root = package.read(file)
        other = open_document(package, file, root, "SystemStructureDescription")
        return self.read_document(other, depth + 1)

    def _read_same_document(self, document: Document, element: Element, id: str, depth: int) -> System:
        """A system that is defined elsewhere in the same document, once more."""
        systems = [e for e in document.root.iter() if local_name(e) == "System" and e.get("id") == id]
        if not systems:
            raise ValueError(f"{document.place(element)}: there is no system with the id '{id}'")
        if element in systems[0].iterdescendants():
            raise ValueError(f"{document.place(element)}: system '{id}' contains itself")
        return _placed(
            self._read_system(document, systems[0], depth + 1), self._read_common(document, element, "")
        )

    def _type_of(self, document: Document, element: Element, file: str) -> str:
        """The media type of a component; the suffix of its file counts more than what is said."""
        by_name = SUFFIXES.get(Path(file).suffix.lower())
        kind = element.get("type") or FMU
        if by_name is not None and kind != by_name:
            document.say(element, f"type is {kind}, but {file} is taken for {by_name}")
            return by_name
        if kind not in (FMU, SSD, SSP):
            text = f"components of type {kind} cannot be run: needs an FMU, an SSD or an SSP"
            raise ValueError(f"{document.place(element)}: {text}")
        return kind

    def _read_connection(self, document: Document, element: Element) -> Wire | None:
        """A connection; None for a wrong one, whose fault is collected."""
        ends: list[End] = []
        try:
            for side in ("start", "end"):
                connector = element.get(f"{side}Connector")
                if connector is None:
                    raise ValueError(f"{document.place(element)}: this connection has no {side}Connector")
                words = element.get(f"{side}Indices", "").split()
                if not all(word.isdecimal() and int(word) > 0 for word in words):
                    text = f"{side}Indices are '{' '.join(words)}', needs numbers from 1 on"
                    raise ValueError(f"{document.place(element)}: {text}")
                indices = tuple(map(int, words))
                ends.append(End(element.get(f"{side}Element", ""), connector, indices))
            change = transformation_of(document, element)
            raw = read_boolean(document, element, "suppressUnitConversion")
        except ValueError as error:
            self.faults.append(problem_of(str(error)))
            return None
        return Wire(ends[0], ends[1], change, raw, document.place(element))


def _placed(inner: System, common: dict[str, Any]) -> System:
    """A system in the place of the component that refers to it: what is bound there comes last."""
    inner.name = str(common["name"])
    inner.values = [*inner.values, *common["values"]]
    return inner


def _read_connector(document: Document, element: Element) -> Connector:
    """A connector, of no known type where the document says none."""
    name, kind = element.get("name", ""), element.get("kind", "unspecified")
    if kind not in KINDS:
        document.say(element, f"connector '{name}' is of kind {kind!r}, which is not known")
        kind = "unspecified"
    typed = next((e for e in element if local_name(e) in TYPES and e.get("name") is None), None)
    typed = typed if typed is not None else child(element, "Enumeration")
    if typed is None:
        return Connector(name, kind)
    items = document.items(typed) if local_name(typed) == "Enumeration" else None
    return Connector(name, kind, local_name(typed), document.unit(typed), items)
