"""``cosim describe ID``."""

from __future__ import annotations

import argparse
import inspect
from typing import Any, ClassVar

import cosim
from cosim.kit import RegisteredClass, declared_bounds, declared_default, kernel_code, kernel_derivatives
from cosim_workbench.arguments import RegisteredId
from cosim_workbench.wording import below_each_other


class DescribeCommand(cosim.Command):
    """Say what a registered class is, what it declares, and whether it can run without Python."""

    name: ClassVar[str] = "describe"
    known_as: ClassVar[tuple[str, ...]] = ("help", "doc", "show", "man")
    summary: ClassVar[str] = "show parameters and ports, and whether it compiles to a native FMU"
    examples = (
        ("cosim describe mechanics.linear_bushing", "parameters, states, outputs, each with its unit"),
        ("cosim describe radau5", "the last word, if only one id ends with it"),
        ("cosim describe --derivatives signals.limiter", "derivatives and kinks, line by line"),
        ("cosim describe --code signals.limiter", "also its kernel functions, in typed form and as C"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The id, and whether code is shown."""
        parser.add_argument(
            "id",
            type=RegisteredId("component", "integrator"),
            help="as in a model file: mechanics.linear_bushing, integrators.radau5",
        )
        parser.add_argument(
            "--derivatives",
            action="store_true",
            help="also show the differentiated lines of the kernel functions, and kinks and jumps",
        )
        parser.add_argument(
            "--code", action="store_true", help="show kernel functions in typed form and as C, too"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Find the class among components, then integrators, and describe it."""
        entry = _entry(arguments.id)
        self.report(
            id=entry.id,
            kind=entry.kind,
            plugin=entry.plugin,
            distribution=entry.distribution,
            version=entry.version,
            summary=_first_line(entry.cls),
            declares=_declared(entry.cls),
            kinks=_kinks(entry.cls),
            exporters={title: [p.text for p in refusals] for title, refusals in _refusals(entry.cls).items()},
        )
        print(describe(arguments.id))
        if arguments.derivatives and issubclass(entry.cls, cosim.Component):
            print(derivatives_of(entry.cls))
        if arguments.code and issubclass(entry.cls, cosim.Component):
            print(code_of(entry.cls))
        return 0


def describe(id: str) -> str:
    """Summary, owner, declarations and what hinders a native FMU, as text.

    Raises
    ------
    LookUpError
        Neither a component nor an integrator has this id.
    """
    entry = _entry(id)
    lines = [
        f"{entry.id}   {entry.kind.replace('_', ' ')}, {entry.owner}",
        "",
        _first_line(entry.cls),
    ]
    lines += _declarations(entry.cls)
    lines += ["", f"kinks: {kinks}"] if (kinks := _kinks(entry.cls)) else []
    for title, refusals in _refusals(entry.cls).items():
        lines += ["", f"{title}: " + ("no" if refusals else "yes")]
        lines += [f"  {problem.text}" for problem in refusals]
    return "\n".join(lines)


def derivatives_of(cls: type[cosim.Component]) -> str:
    """For each kernel function whether it has a tangent, and the lines where the tangent is incomplete."""
    lines = [""]
    for kernel in kernel_derivatives(cls):
        if kernel.refusal:
            lines.append(f"{kernel.name}: no tangent, so differences: {kernel.refusal}")
            continue
        lines.append(f"{kernel.name}: {'its own tangent' if kernel.is_own else 'differentiated'}")
        lines += [f"  {note}" for note in kernel.notes]
        if kernel.no_adjoint:
            lines.append(f"  no adjoint, so runs have no gradients: {kernel.no_adjoint}")
    return "\n".join(lines if len(lines) > 1 else ["", "no kernel functions"])


def code_of(cls: type[cosim.Component]) -> str:
    """The kernel functions of a component as the compiler reads them, and as C."""
    lines = []
    for code in kernel_code(cls):
        for title, text in (("in typed form", code.typed), ("as C", code.in_c)):
            lines += ["", f"{code.name}, {title}:", "", text]
    return "\n".join(lines)


def _entry(id: str) -> RegisteredClass:
    registry = cosim.registry()
    integrators = {entry.id for entry in registry.entries("integrator")}
    return registry.entry("integrator" if id in integrators else "component", id)


def _first_line(cls: type[Any]) -> str:
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def _refusals(cls: type[Any]) -> dict[str, list[cosim.Problem]]:
    """The obstacles to each way of exporting a class; empty where it can be exported."""
    exporters = [entry.cls for entry in cosim.registry().entries("exporter") if entry.cls.title]
    return {exporter.title: list(exporter().refusals(cls)) for exporter in exporters}


def _declared(cls: type[Any]) -> list[dict[str, str]]:
    """The declarations of a component; none for other classes."""
    if not issubclass(cls, cosim.Component):
        return []
    return [
        {
            "kind": d.kind,
            "name": d.name,
            "unit": " ".join(sorted(set(d.units) - {"1", ""})),
            "description": "; ".join(
                filter(None, (d.description.rstrip("."), declared_bounds(d), declared_default(d)))
            ),
        }
        for d in cls.declarations.values()
        if not d.options.get("internal")
    ]


def _kinks(cls: type[Any]) -> str:
    """The treatment of kinks by an integrator; the kinks of a component that are not located."""
    if not issubclass(cls, cosim.Component):
        if cls.capabilities.locates_kinks:
            return (
                "steps with error control end at them (abs, max, min, side_of_kink); "
                "one that is crossed and crossed back within a single step is stepped over; "
                "where a law begins like a power below 2, ten accuracies are not promised"
            )
        return "stepped over; no accuracy is promised across them"
    if cls.announces_kinks:
        return "announced, as events or times"
    missed = cosim.kit.missed_kinks(cls.kernels, cls.arguments, cls.declarations)
    remarks = []
    if cls.kink_functions or "side_of_kink" in cls.declarations:
        remarks.append("steps with error control end at them")
    if missed:
        remarks.append(f"stepped over at {', '.join(missed)} (function:line)")
    return "; ".join(remarks)


def _declarations(cls: type[Any]) -> list[str]:
    rows = [tuple(row.values()) for row in _declared(cls)]
    return ["", *below_each_other(rows)] if rows else []
