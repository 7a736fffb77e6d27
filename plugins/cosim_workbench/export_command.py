"""``cosim export MODEL.toml -o X.fmu``."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim_workbench.atomic_file import check_folder
from cosim_workbench.progress import compile_notice
from cosim_workbench.simulation_table import positive

SELECTIONS = {
    "inputs": "set from outside (all that are free)",
    "outputs": "outputs (measures, declared outputs, recorded signals)",
    "parameters": "parameters (those that were given a value)",
    "expose": "seen besides (named coordinates, states of components)",
}
NATIVE = {
    "platforms": ("A,B", "linux64, aarch64-linux, win64, darwin64, or all (this machine's)"),
    "fmi": ("VERSION", "2 or 3 (2)"),
    "kind": ("A,B", "cs (Co-Simulation), me (Model Exchange) (both)"),
}


class ExportCommand(cosim.Command):
    """Write a model file as an FMU."""

    name: ClassVar[str] = "export"
    known_as: ClassVar[tuple[str, ...]] = ("build", "convert", "fmu")
    summary: ClassVar[str] = "write a model file as an FMU"
    examples = (
        ("cosim export mount.toml", "mount.fmu; machine code where it can be, else Python"),
        ("cosim export mount.toml --python --outputs engine.z,vertical_speed -o small.fmu", "chosen outputs"),
        ("cosim export mount.toml --native --fmi 3 --kind me", "FMI 3.0 Model Exchange"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model, the FMU, and what of the model can be seen in it."""
        parser.add_argument("model", type=Path, help="a TOML file")
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the FMU (MODEL.fmu)")
        for name, text in SELECTIONS.items():
            parser.add_argument(f"--{name}", metavar="A,B", help=f"paths or patterns: {text}")
        parser.add_argument("--all", action="store_true", help="everything, in place of what the model names")
        parser.add_argument("--step", metavar="TIME", help='proposed step in s, or with a unit: "1 ms"')
        parser.add_argument(
            "--libpython",
            metavar="NAME",
            help="for Linux hosts that are no Python program: libpython3.11.so.1.0 (patchelf)",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument(
            "--native",
            action="store_true",
            help="machine code that needs no Python (the default where it can be)",
        )
        form.add_argument("--python", action="store_true", help="an FMU that runs in a Python interpreter")
        for name, (metavar, text) in NATIVE.items():
            parser.add_argument(f"--{name}", metavar=metavar, help=f"of a native FMU: {text}")
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, check, export."""
        target = arguments.output or Path(f"{arguments.model.stem}.fmu")
        if target.suffix.lower() != ".fmu":
            raise cosim.CosimError(f"{target}: the name of an FMU ends in .fmu")
        check_folder(target)
        options: dict[str, Any] = {
            name: _listed(text) for name in SELECTIONS if (text := getattr(arguments, name)) is not None
        }
        options |= {"all": True} if arguments.all else {}
        if arguments.step is not None:
            options["step_size"] = positive(arguments.step, "s", "--step")
        if arguments.libpython is not None:
            options["libpython"] = arguments.libpython
        options |= self._native(arguments)
        model = cosim.Model.from_file(arguments.model)
        with nullcontext() if arguments.quiet else compile_notice():
            model.build()  # the exporter builds a copy, whose faults would have no lines
            exporter = model.exporter(options.pop("native"))
            written = exporter.export(model, target, **options)
        self.report(model=model.name, fmu=written, exporter=exporter.summary)
        if not arguments.quiet:
            print(f"{model.name} → {written}")
            print(exporter.summary)
        return 0

    @staticmethod
    def _native(arguments: argparse.Namespace) -> dict[str, Any]:
        typed = {name: getattr(arguments, name) for name in NATIVE if getattr(arguments, name) is not None}
        wants_python = arguments.python or arguments.libpython is not None
        if typed and wants_python:
            raise cosim.CosimError(f"--{next(iter(typed))} is for native FMUs, not for those that run Python")
        if arguments.native and arguments.libpython is not None:
            raise cosim.CosimError("--libpython: a native FMU needs no Python, so it takes none along")
        lists = {name: _listed(text) for name, text in typed.items() if name != "fmi"}
        native = False if wants_python else True if arguments.native or typed else None
        return {"native": native, **typed, **lists}


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
