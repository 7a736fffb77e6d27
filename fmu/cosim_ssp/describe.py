"""A description of an SSP in words; FMUs are not loaded."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from cosim_ssp.network import Network, text_of
from cosim_ssp.package import Package
from cosim_ssp.read_structure import read_ssp
from cosim_ssp.structure import SINKS, SOURCES, Component, Connector, DictionaryReference, Node, System
from cosim_workbench.contracts import Describer


def describe_ssp(path: Path) -> str:
    """The system's own connectors, elements, connections, how it is run, variants, and what was noticed.

    Raises
    ------
    ModelError
        It cannot be read.
    """
    package = Package(path)
    system, settings = read_ssp(package)
    network = Network.of(system)
    version = package.read(package.choose()).get("version", "?")
    count = len(network.components)
    parts = f"{count} component{'s' * (count != 1)}"
    lines = [f"{path.name}   SSP {version}, {system.name or 'without a name'}, {parts}"]
    others = [name for name in package.variants if name != package.choose()]
    if others:
        lines.append(f"  variants   {', '.join(others)}")
    times = [("start", settings.start), ("stop", settings.stop), ("step", settings.step)]
    run = [f"{name} {value:g} s" for name, value in times if value is not None]
    if run:
        lines.append(f"  run        {', '.join(run)}")
    for title, kinds in (("inputs", SINKS), ("outputs", SOURCES)):
        connectors = [
            _with_unit(connector) for connector in system.connectors.values() if connector.kind in kinds
        ]
        if connectors:
            lines.append(f"  {title:<9}  {', '.join(connectors)}")
    lines += ["", "elements", *_tree(system, 1)]
    hops = [hop for hops in network.hops.values() for hop in hops]
    if hops:
        lines += ["", "connections"]
        lines += [f"  {text_of(hop.start)} → {text_of(hop.end)}" for hop in hops]
    problems = [*package.findings, *network.findings, *network.faults]
    if problems:
        lines += ["", "noticed", *(f"  {problem}" for problem in problems)]
    return "\n".join(lines)


def _with_unit(connector: Connector) -> str:
    return connector.name if connector.unit is None else f"{connector.name} [{connector.unit.name}]"


def _tree(system: System, depth: int) -> list[str]:
    lines = []
    for name, element in system.elements.items():
        lines.append(f"{'  ' * depth}{name}   {_kind(element)}".rstrip())
        if isinstance(element, System):
            lines += _tree(element, depth + 1)
    return lines


def _kind(element: Node) -> str:
    count = len(element.connectors)
    connectors = f"{count} connector{'s' * (count != 1)}"
    if isinstance(element, Component):
        return f"{element.file or 'no implementation'}, {connectors}"
    if isinstance(element, DictionaryReference):
        return f"signal dictionary {element.dictionary}, {connectors}"
    return f"system, {connectors}"


class SspDescriber(Describer):
    """Describes an SSP: its elements, its connections, and the findings of the reader."""

    suffixes: ClassVar[tuple[str, ...]] = (".ssp", ".ssd")
    what: ClassVar[str] = "a system of other tools (.ssp, .ssd)"

    def describe(self, path: Path) -> str:
        """Elements, connections, how it is run, variants."""
        return describe_ssp(path)
