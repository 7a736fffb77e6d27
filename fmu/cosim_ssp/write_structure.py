"""A new SSD of a co-simulation of FMUs."""

from __future__ import annotations

import itertools
from collections.abc import Container, Mapping
from pathlib import Path, PurePath
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.instances.unpacked_fmu import read_fmu
from cosim_master.coupling.connection import Link
from cosim_master.coupling.convert_value import conversion_of, definition_of
from cosim_master.coupling.coupling import file_paths
from cosim_ssp.read_parameters import EXPONENTS
from cosim_ssp.structure import REALS
from cosim_ssp.tools import open_simulation_platform
from cosim_ssp.xml_document import OTHERS, Element, add, child_or_new, new_root

SCALARS = {"Float64": "Real", "Float32": "Real", "Int32": "Integer"}
"""What types of FMI 3.0 are called in SSP 1.0."""


def new_structure(loop: Any, name: str) -> tuple[Element, dict[str, bytes | Path]]:
    """The root of an SSD, and the files that belong beside it.

    Raises
    ------
    ModelError
        Participants that are no FMUs, and connections that SSP cannot say.
    """
    writer = _Writer(loop)
    if writer.problems:
        raise cosim.ModelError(writer.problems)
    root = new_root("ssd:SystemStructureDescription", {"osp": OTHERS["osp"]})
    root.set("version", writer.version)
    root.set("name", name)
    root.set("generationTool", f"cosim {cosim.__version__}")
    top = add(root, "ssd:System", name=name)
    elements = add(top, "ssd:Elements")
    for participant in loop.participants:
        writer.component(elements, participant)
    connections = add(top, "ssd:Connections")
    for link in loop.all_links:
        writer.connection(connections, link)
    if writer.problems:
        raise cosim.ModelError(writer.problems)
    writer.tables(root)
    return root, writer.files


def add_values(
    holder: Element,
    values: Mapping[str, Any],
    name: str,
    version: str,
    description: ParticipantDescription | None = None,
) -> None:
    """A parameter binding with these values, after those that are there.

    With the description of the component, elements of an array become one parameter that is an array.
    """
    binding = add(child_or_new(holder, "ssd:ParameterBindings"), "ssd:ParameterBinding")
    parameter_set = new_root("ssv:ParameterSet", {}, version=version, name=name)
    add(binding, "ssd:ParameterValues").append(parameter_set)
    parameters = add(parameter_set, "ssv:Parameters")
    for path, (shape, parts) in _whole(values, description).items():
        parameter = add(parameters, "ssv:Parameter", name=path)
        kinds, texts = zip(*map(_typed, parts), strict=True)
        if shape and kinds[0] in ("String", "Binary"):
            holder = add(parameter, f"ssv:{kinds[0]}")
            for text in texts:
                add(holder, "ssv:Value", value=text)
        else:
            add(parameter, f"ssv:{kinds[0]}", value=" ".join(texts))
        for size in shape:
            add(parameter, "ssc:Dimension", size=str(size))


def number_text(value: float) -> str:
    """A number that reads back as the same one."""
    return repr(float(value))


def free_place(path: PurePath, places: Container[str]) -> str:
    """Where a file comes to lie in an archive: in ``resources``, under a name that no other has."""
    numbered = (f"resources/{path.stem}_{number}{path.suffix}" for number in itertools.count(2))
    return next(p for p in itertools.chain([f"resources/{path.name}"], numbered) if p not in places)


class _Writer:
    """Components, connections and the units and enumerations that they name."""

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self.problems: list[cosim.Problem] = []
        self.files: dict[str, bytes | Path] = {}
        self.interfaces: dict[str, Any] = {}
        self.units: dict[str, tuple[tuple[int, ...], float, float]] = {}
        self.enumerations: dict[tuple[tuple[str, int], ...], str] = {}
        self._sources: dict[str, str] = {}
        for name, participant in loop.participants.items():
            self._open(name, participant)
        kinds = {e.type for interface in self.interfaces.values() for e in interface.elements.values()}
        third = any(interface.version == "3.0" for interface in self.interfaces.values())
        self.version = "2.0" if third and kinds else "1.0"

    def _open(self, name: str, participant: Any) -> None:
        path = file_paths({name: participant})[name]
        description = self.loop.descriptions[name]
        if path is None or not path.is_file():
            text = f"an SSP holds FMUs, and this is none ({description.kind}): make an FMU of it"
            if name in self.loop.python_files:
                file = self.loop.python_files[name].name
                text = f"is Python code of {file}, which no SSP holds: make an FMU, or a component, of it"
            self.problems.append(cosim.Problem(f"participants.{name}", text))
            return
        kind = "ModelExchange" if "Model Exchange" in description.kind else "CoSimulation"
        self.interfaces[name] = read_fmu(path, kind)[1]
        earlier = next((source for source, file in self.files.items() if file == path), None)
        source = earlier or free_place(path, self.files)
        self.files[source] = path
        self._sources[name] = source

    def component(self, elements: Element, name: str) -> None:
        """An element with the connectors that are inputs, outputs or parameters, and its start values."""
        from urllib.parse import quote

        interface, description = self.interfaces[name], self.loop.descriptions[name]
        kind = "ModelExchange" if interface.model_exchange else "CoSimulation"
        component = add(
            elements, "ssd:Component", name=name, type="application/x-fmu-sharedlibrary",
            source=quote(self._sources[name]), implementation=kind,
        )  # fmt: skip
        connectors = add(component, "ssd:Connectors")
        connected = {end for link in self.loop.all_links for end in (link.start, link.end)}
        arrays = description.arrays
        whole = {element: array for array, (_, names) in arrays.items() for element in names}
        shown: set[str] = set()
        for variable in description.variables.values():
            if variable.causality == "local" and (name, variable.name) not in connected:
                continue
            connector = whole.get(variable.name, variable.name)
            if connector not in shown:
                shown.add(connector)
                self._connector(connectors, name, variable, connector, arrays.get(connector, ((), ()))[0])
        values = self.loop.start_values[name]
        if values:
            add_values(component, values, "start values", self.version, description)
        multiple = self.loop.step_multiple.get(name, 1)
        if multiple > 1:
            step = number_text(multiple * self.loop.step)
            open_simulation_platform.write_step_hint(component, step)

    def _connector(
        self, connectors: Element, name: str, variable: Any, connector: str, shape: tuple[int, ...]
    ) -> None:
        description = self.loop.descriptions[name]
        element = add(
            connectors, "ssd:Connector", name=connector, kind=self._kind(description, variable, connector)
        )
        declared = self.interfaces[name].elements[variable.name].type
        kind = SCALARS.get(declared, declared) if self.version == "1.0" else declared
        if kind == "Clock" and self.version == "1.0":
            return
        if kind == "Enumeration":
            items = tuple(description.enumerations.get(variable.name, ()))
            if not items:
                add(element, "ssc:Integer")
                return
            enumeration = self.enumerations.setdefault(items, f"Enumeration{len(self.enumerations) + 1}")
            add(element, "ssc:Enumeration", name=enumeration)
            return
        typed = add(element, f"ssc:{kind}")
        definition = definition_of(variable.unit, description) if kind in REALS else None
        if definition is not None and self.units.setdefault(variable.unit, definition) == definition:
            typed.set("unit", variable.unit)
        for size in shape:
            add(element, "ssc:Dimension", size=str(size))

    def _kind(self, description: Any, variable: Any, connector: str) -> str:
        if variable.name in description.calculated:
            return "calculatedParameter"
        if connector in description.structural:
            return "structuralParameter"
        if variable.causality == "local" and self.version == "1.0":
            return "output"
        return str(variable.causality)

    def connection(self, connections: Element, link: Link) -> None:
        """A connection, with a transformation where there is one beside that of the units."""
        ends = {}
        for side, (name, variable) in (("start", link.start), ("end", link.end)):
            connector, indices = self._port(name, variable)
            ends[f"{side}Element"], ends[f"{side}Connector"] = name, connector
            if indices:
                ends[f"{side}Indices"] = indices
        element = add(connections, "ssd:Connection", **ends)
        giver, taker = self.loop.descriptions[link.source], self.loop.descriptions[link.target]
        output_variable, input_variable = giver.variables[link.output], taker.variables[link.input]
        if link.table is not None:
            self._mapping(element, link, output_variable.type, input_variable.type)
        elif input_variable.type == "real" and (link.factor, link.offset) != self._units_alone(link):
            _linear(element, link.factor, link.offset)

    def _mapping(self, element: Element, link: Link, source: str, target: str) -> None:
        """A table; where one side is boolean and the other is not, a table of integers, with 0 and 1."""
        assert link.table is not None
        is_whole = all(float(value).is_integer() for value in link.table.values())
        if is_whole and (link.factor, link.offset) == (1.0, 0.0):
            kind = "Boolean" if source == target == "boolean" else "Integer"
            table = add(element, f"ssc:{kind}MappingTransformation")
            for pair in link.table.items():
                texts = (_typed(bool(value) if kind == "Boolean" else int(value))[1] for value in pair)
                add(table, "ssc:MapEntry", **dict(zip(("source", "target"), texts, strict=True)))
        elif source == "boolean":
            at_false, at_true = link.convert(False), link.convert(True)
            _linear(element, at_true - at_false, at_false)
        else:
            text = f"{link} maps {source} values to numbers that are not whole, which SSP cannot say"
            self.problems.append(cosim.Problem("connections", text))

    def _units_alone(self, link: Link) -> tuple[float, float]:
        """What the conversion of units alone does; numbers that are not real have none."""
        giver, taker = self.loop.descriptions[link.source], self.loop.descriptions[link.target]
        units = giver.variables[link.output].unit, taker.variables[link.input].unit
        if giver.variables[link.output].type != "real":
            return 1.0, 0.0
        try:
            return conversion_of(units[0], giver, units[1], taker)
        except cosim.UnitError:
            return 0.0, 0.0

    def _port(self, name: str, variable: str) -> tuple[str, str]:
        """Connector and indices of a scalar."""
        for array, (_, elements) in self.loop.descriptions[name].arrays.items():
            if variable in elements:
                return array, variable[len(array) + 1 : -1].replace(",", " ")
        return variable, ""

    def tables(self, root: Element) -> None:
        """Enumerations and units."""
        if self.enumerations:
            holder = add(root, "ssd:Enumerations")
            for items, name in self.enumerations.items():
                enumeration = add(holder, "ssc:Enumeration", name=name)
                for item, number in items:
                    add(enumeration, "ssc:Item", name=item, value=str(number))
        if self.units:
            holder = add(root, "ssd:Units")
            for name, (exponents, factor, offset) in self.units.items():
                base = add(add(holder, "ssc:Unit", name=name), "ssc:BaseUnit")
                for key, exponent in zip(EXPONENTS, exponents, strict=True):
                    if exponent:
                        base.set(key, str(exponent))
                if factor != 1.0:
                    base.set("factor", number_text(factor))
                if offset != 0.0:
                    base.set("offset", number_text(offset))


def _linear(connection: Element, factor: float, offset: float) -> None:
    """A linear transformation in place of the conversion of units."""
    connection.set("suppressUnitConversion", "true")
    add(connection, "ssc:LinearTransformation", factor=number_text(factor), offset=number_text(offset))


def _whole(
    values: Mapping[str, Any], description: ParticipantDescription | None
) -> dict[str, tuple[tuple[int, ...], list[Any]]]:
    """Values with their shapes; what is missing of an array is what its description says."""
    arrays = {} if description is None else description.arrays
    whole = {element: array for array, (_, elements) in arrays.items() for element in elements}
    arranged: dict[str, tuple[tuple[int, ...], list[Any]]] = {}
    for path, value in values.items():
        array = whole.get(path)
        if array is None or description is None:
            arranged[path] = ((), [value])
            continue
        shape, elements = arrays[array]
        starts = [values.get(e, description.variables[e].start) for e in elements]
        arranged[array] = (shape, [type(value)() if start is None else start for start in starts])
    return arranged


def _typed(value: Any) -> tuple[str, str]:
    """Type and text of a value of a parameter."""
    if isinstance(value, bool):
        return "Boolean", "true" if value else "false"
    if isinstance(value, int):
        return "Integer", str(value)
    if isinstance(value, float):
        return "Real", number_text(value)
    if isinstance(value, (bytes, bytearray)):
        return "Binary", bytes(value).hex()
    return "String", str(value)
