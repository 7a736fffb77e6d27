"""A new SSD of a co-simulation of FMUs: its components, connections, units and enumerations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import cosim
from cosim.kit import ParticipantVariable, UnitDefinition
from cosim_fmi.instances import read_fmu
from cosim_master.coupling.coupling import file_paths
from cosim_master.coupling.unit_conversion import definition_of
from cosim_ssp.package import free_place
from cosim_ssp.read_parameters import EXPONENTS
from cosim_ssp.structure import REALS
from cosim_ssp.tools import open_simulation_platform
from cosim_ssp.write_connections import add_connection
from cosim_ssp.write_parameters import add_values, number_text
from cosim_ssp.xml_document import OTHERS, Element, add, new_root

SCALARS = {"Float64": "Real", "Float32": "Real", "Int32": "Integer"}
"""Names in SSP 1.0 of types of FMI 3.0."""


def new_structure(loop: Any, name: str) -> tuple[Element, dict[str, bytes | Path]]:
    """The root of an SSD, and the files that belong beside it.

    Raises
    ------
    ModelError
        Participants that are no FMUs, and connections that SSP cannot express.
    """
    writer = _ComponentWriter(loop)
    if writer.problems:
        raise cosim.ModelError(writer.problems)
    root = new_root("ssd:SystemStructureDescription", {"osp": OTHERS["osp"]})
    root.set("version", writer.version)
    root.set("name", name)
    root.set("generationTool", f"cosim {cosim.__version__}")
    top = add(root, "ssd:System", name=name)
    elements = add(top, "ssd:Elements")
    for participant in loop.participants:
        writer.add_component(elements, participant)
    connections, problems = add(top, "ssd:Connections"), list[cosim.Problem]()
    for link in loop.all_links:
        try:
            add_connection(connections, link, loop)
        except ValueError as error:
            problems.append(cosim.Problem("connections", str(error)))
    if problems:
        raise cosim.ModelError(problems)
    writer.definitions.write(root)
    return root, writer.files


class _Definitions:
    """The units and enumerations that connectors name."""

    def __init__(self) -> None:
        self._units: dict[str, UnitDefinition] = {}
        self._enumerations: dict[tuple[tuple[str, int], ...], str] = {}

    def add_unit(self, name: str, definition: UnitDefinition) -> bool:
        """Define a unit; False if the name has another definition already."""
        return self._units.setdefault(name, definition) == definition

    def enumeration(self, items: Sequence[tuple[str, int]]) -> str:
        """The name of the enumeration with these items, which is defined if there is none."""
        return self._enumerations.setdefault(tuple(items), f"Enumeration{len(self._enumerations) + 1}")

    def write(self, root: Element) -> None:
        """Append all definitions to the document."""
        if self._enumerations:
            holder = add(root, "ssd:Enumerations")
            for items, name in self._enumerations.items():
                enumeration = add(holder, "ssc:Enumeration", name=name)
                for item, number in items:
                    add(enumeration, "ssc:Item", name=item, value=str(number))
        if self._units:
            holder = add(root, "ssd:Units")
            for name, unit in self._units.items():
                base = add(add(holder, "ssc:Unit", name=name), "ssc:BaseUnit")
                for key, exponent in zip(EXPONENTS, unit.exponents, strict=True):
                    if exponent:
                        base.set(key, str(exponent))
                if unit.factor != 1.0:
                    base.set("factor", number_text(unit.factor))
                if unit.offset != 0.0:
                    base.set("offset", number_text(unit.offset))


class _ComponentWriter:
    """Writes the components of a co-simulation.

    Attributes
    ----------
    problems : list of Problem
        Participants that are no FMUs.
    files : dict of str to Path
        The FMUs, by their place in the archive.
    definitions : _Definitions
    version : str
        Version of SSP: 2.0 if an FMU of FMI 3.0 has connectors.
    """

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self.problems: list[cosim.Problem] = []
        self.files: dict[str, bytes | Path] = {}
        self.definitions = _Definitions()
        self._interfaces: dict[str, Any] = {}
        self._sources: dict[str, str] = {}
        for name, participant in loop.participants.items():
            self._open(name, participant)
        interfaces = self._interfaces.values()
        has_connectors = any(interface.elements for interface in interfaces)
        is_third = any(interface.version == "3.0" for interface in interfaces)
        self.version = "2.0" if is_third and has_connectors else "1.0"

    def _open(self, name: str, participant: Any) -> None:
        """Read the FMU of a participant, and find a place for its file."""
        path = file_paths({name: participant})[name]
        description = self._loop.descriptions[name]
        if path is None or not path.is_file():
            text = f"an SSP holds FMUs, and this is none ({description.kind}): make an FMU of it"
            if name in self._loop.python_files:
                file = self._loop.python_files[name].name
                text = f"is Python code of {file}, which no SSP holds: make an FMU, or a component, of it"
            self.problems.append(cosim.Problem(f"participants.{name}", text))
            return
        kind = "ModelExchange" if "Model Exchange" in description.kind else "CoSimulation"
        _, self._interfaces[name] = read_fmu(path, kind)
        earlier = next((source for source, file in self.files.items() if file == path), None)
        source = earlier or free_place(path, self.files)
        self.files[source] = path
        self._sources[name] = source

    def add_component(self, elements: Element, name: str) -> None:
        """Append a component with its inputs, outputs and parameters as connectors, and its start values."""
        loop, description = self._loop, self._loop.descriptions[name]
        component = add(
            elements,
            "ssd:Component",
            name=name,
            type="application/x-fmu-sharedlibrary",
            source=quote(self._sources[name]),
            implementation="ModelExchange" if self._interfaces[name].is_model_exchange else "CoSimulation",
        )
        self._add_connectors(add(component, "ssd:Connectors"), name)
        values = loop.start_values[name]
        if values:
            add_values(component, values, "start values", self.version, description)
        multiple = loop.step_multiple.get(name, 1)
        if multiple > 1:
            open_simulation_platform.write_step_hint(component, number_text(multiple * loop.step))

    def _add_connectors(self, connectors: Element, name: str) -> None:
        """Append a connector for each variable, or one for an array; local variables only if connected."""
        description = self._loop.descriptions[name]
        connected = {end for link in self._loop.all_links for end in (link.start, link.end)}
        array_of = {element: array for array, (_, names) in description.arrays.items() for element in names}
        written: set[str] = set()
        for variable in description.variables.values():
            if variable.causality == "local" and (name, variable.name) not in connected:
                continue
            connector = array_of.get(variable.name, variable.name)
            if connector in written:
                continue
            written.add(connector)
            kind = self._connector_kind(name, variable, connector)
            element = add(connectors, "ssd:Connector", name=connector, kind=kind)
            shape, _ = description.arrays.get(connector, ((), ()))
            self._add_type(element, name, variable, shape)

    def _connector_kind(self, name: str, variable: ParticipantVariable, connector: str) -> str:
        """The kind of a connector, which follows from the causality of its variable."""
        description = self._loop.descriptions[name]
        if variable.name in description.calculated:
            return "calculatedParameter"
        if connector in description.structural:
            return "structuralParameter"
        if variable.causality == "local" and self.version == "1.0":
            return "output"
        return str(variable.causality)

    def _add_type(
        self, connector: Element, name: str, variable: ParticipantVariable, shape: Sequence[int]
    ) -> None:
        """Append the type of a connector, with its unit or enumeration; SSP 1.0 has no type for clocks."""
        description = self._loop.descriptions[name]
        declared = self._interfaces[name].elements[variable.name].type
        kind = SCALARS.get(declared, declared) if self.version == "1.0" else declared
        if kind == "Clock" and self.version == "1.0":
            return
        if kind == "Enumeration":
            items = description.enumerations.get(variable.name, ())
            if items:
                add(connector, "ssc:Enumeration", name=self.definitions.enumeration(items))
            else:
                add(connector, "ssc:Integer")
            return
        typed = add(connector, f"ssc:{kind}")
        definition = definition_of(variable.unit, description) if kind in REALS else None
        if definition is not None and self.definitions.add_unit(variable.unit, definition):
            typed.set("unit", variable.unit)
        for size in shape:
            add(connector, "ssc:Dimension", size=str(size))
