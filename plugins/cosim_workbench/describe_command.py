"""``cosim describe ID``."""

from __future__ import annotations

import argparse
import inspect
from typing import Any, ClassVar

import cosim


class DescribeCommand(cosim.Command):
    """Say what a registered class is, what it declares, and whether it can run without Python."""

    name: ClassVar[str] = "describe"
    summary: ClassVar[str] = "say what a component or integrator is, and whether it can run without Python"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The id."""
        parser.add_argument("id", help="as in a model file: mechanics.linear_bushing, integrators.radau5")

    def run(self, arguments: argparse.Namespace) -> int:
        """Look it up among components, then integrators."""
        print(describe(arguments.id))
        return 0


def describe(id: str) -> str:
    """Summary, owner, declarations and what hinders a native FMU, as text.

    Raises
    ------
    LookUpError
        Neither a component nor an integrator has this id.
    """
    registry = cosim.registry()
    integrators = {entry.id for entry in registry.entries("integrator")}
    entry = registry.entry("integrator" if id in integrators else "component", id)
    lines = [
        f"{entry.id}   {entry.kind.replace('_', ' ')}, {entry.owner}",
        "",
        *(inspect.getdoc(entry.cls) or "").split("\n")[:1],
    ]
    if issubclass(entry.cls, cosim.Component):
        lines += _declarations(entry.cls)
    for exporter in registry.entries("exporter"):
        if exporter.cls.title:
            refusals = exporter.cls().refusals(entry.cls)
            lines += ["", f"{exporter.cls.title}: " + ("no" if refusals else "yes")]
            lines += [f"  {problem.text}" for problem in refusals]
    return "\n".join(lines)


def _declarations(cls: type[Any]) -> list[str]:
    rows = [
        (d.kind, d.name, " ".join(sorted(set(d.units) - {"1", ""})), d.description)
        for d in cls.declarations.values()
        if not d.options.get("internal")
    ]
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    cells = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in rows)
    return ["", *(f"  {text}  {row[3]}".rstrip() for text, row in zip(cells, rows, strict=True))]
