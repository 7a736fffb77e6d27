"""``cosim check NAME``."""

from __future__ import annotations

import argparse
import importlib
import inspect
import tomllib
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import cosim
from cosim.kit import check_folder, replaced_file
from cosim_workbench.arguments import completes
from cosim_workbench.check_report import report_page, report_row
from cosim_workbench.optional_library import import_optional
from cosim_workbench.scaffold import registered_kits


class CheckCommand(cosim.Command):
    """Run the contract kit on what a plugin brings, without a test file."""

    name: ClassVar[str] = "check"
    known_as: ClassVar[tuple[str, ...]] = ("test", "lint", "verify")
    summary: ClassVar[str] = "test your own class against its contract"
    examples = (
        ("cosim check acme", "all classes of the plugin `acme`"),
        ("cosim check acme.soft_damper", "one class"),
        (
            "cosim check acme.soft_damper damping=40",
            "set a parameter (without a default: 1.0)",
        ),
        ("cosim check acme --report acme.html", "and write a page for the plugin's users"),
    )
    failure: ClassVar[str] = "a check failed"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the class and its parameters."""
        name = parser.add_argument("id", metavar="NAME", help="a plugin (acme) or an id (acme.soft_damper)")
        completes(name, lambda words: [*_with_kit(), *(record.name for record in cosim.registry().plugins)])
        parser.add_argument(
            "values", nargs="*", metavar="PARAMETER=VALUE", help="value of a parameter, as in a model file"
        )
        parser.add_argument(
            "-k",
            dest="only",
            metavar="WORDS",
            default="",
            help="run only checks with these words in their names",
        )

        parser.add_argument(
            "--report",
            metavar="FILE.html",
            type=Path,
            help="write a page: checks, energy, export, documentation, types and speed of each class",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Status 1 when a check fails."""
        for name in ("pytest", "hypothesis"):
            import_optional(name, "cosim check", "testing")
        kit: Any = importlib.import_module("cosim.testing.kit_run")  # only this command needs it
        if arguments.report is not None:
            check_folder(arguments.report)
        values = dict(map(_value, arguments.values))
        runs = [
            kit.KitRun(entry, kit_name, values, arguments.only) for entry, kit_name in _entries(arguments.id)
        ]
        for run in runs:
            try:
                run.run(quiet=arguments.json)
            except cosim.ModelError as error:
                if len(runs) == 1:
                    raise
                run.refuse(error, quiet=arguments.json)  # and the other classes are checked
        if arguments.report is not None:
            with replaced_file(arguments.report) as draft:
                draft.write_text(report_page(arguments.id, [report_row(run) for run in runs]), "utf-8")
        self.report(checked=[run.to_dict() for run in runs])
        return 0 if all(run.passed for run in runs) else 1


class Checkable(NamedTuple):
    """A registered class, and the kit of its kind if another plugin brings that, else ""."""

    entry: Any
    kit: str


def _entries(name: str) -> list[Checkable]:
    """The classes that an id, or the name of a plugin, means."""
    classes_with_id = _with_kit(name)
    if classes_with_id:
        return classes_with_id[name]
    registry, checkable = cosim.registry(), _with_kit()
    of_plugin = [
        checked
        for checked_by_id in checkable.values()
        for checked in checked_by_id
        if checked.entry.plugin == name and _can_be_made(checked)
    ]
    if of_plugin:
        return of_plugin
    plugin = name.partition(".")[0]
    failed = next((str(record) for record in registry.failures if record.name == plugin), "")
    plugins = [record.name for record in registry.plugins]
    uncheckable = [e.id for record in registry.plugins for e in record.entries if name in (e.id, record.name)]
    if uncheckable:
        raise cosim.CosimError(
            f"{', '.join(uncheckable)}: this command checks components, integrators, participants and master "
            "algorithms"
        )
    hint = f"{failed}." if failed else "Installed: `cosim plugins`."
    raise cosim.LookUpError("plugin, or class with a kit,", name, [*checkable, *plugins], hint)


def _can_be_made(checked: Checkable) -> bool:
    """Whether a class can be made without arguments, which may need a file."""
    cls = checked.entry.cls
    return not (checked.kit and required_arguments(cls)) and not getattr(cls, "takes_more", False)


def _with_kit(name: str = "") -> dict[str, list[Checkable]]:
    """Classes with a kit, by their ids; with a name, only classes with this id are imported."""
    registry = cosim.registry()
    entries_by_id: dict[str, list[Checkable]] = {}
    kits = registered_kits()
    for kind in ("component", "integrator", *kits):
        for entry in registry.entries(kind):
            if name not in ("", entry.id):
                continue
            if getattr(entry.cls, "contract_kit", None) == "":
                continue  # the class declares that the kit of its kind does not fit
            entries_by_id.setdefault(entry.id, []).append(Checkable(entry, kits.get(kind, "")))
    return entries_by_id


def required_arguments(cls: type) -> list[str]:
    """Arguments that a class requires."""
    parameters = inspect.signature(cls).parameters.values()
    return [
        p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


def _value(text: str) -> tuple[str, Any]:
    """``damping=40`` or ``stiffness="2 N/mm"`` as name and value."""
    name, equals, value = text.partition("=")
    if not equals:
        raise cosim.ModelError.of(text, "needs PARAMETER=VALUE, such as damping=40")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()
