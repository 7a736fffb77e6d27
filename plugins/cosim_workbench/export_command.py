"""``cosim export MODEL.toml -o X.fmu``."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim.kit import ExportReport, check_folder, seldom_evaluated
from cosim_workbench.contracts import FileExporter
from cosim_workbench.progress import compile_notice
from cosim_workbench.simulation_table import positive

SELECTIONS = {
    "inputs": "inputs (default: all that are not connected)",
    "outputs": "outputs (default: measures, declared outputs, recorded signals)",
    "parameters": "parameters (default: those whose value you set)",
    "expose": "further variables (named coordinates, states of components)",
}
NATIVE = {
    "platforms": ("A,B", "linux64, aarch64-linux, win64, darwin64, or all (this machine's)"),
    "fmi": ("VERSION", "2 or 3 (2)"),
    "kind": ("A,B", "cs (Co-Simulation), me (Model Exchange), or both: cs,me (both)"),
    "derivatives": ("A.X,B.Y", "further outputs: derivatives of all outputs with respect to these (cs)"),
}
SHAPES = {
    "naming": ("KIND", "structured (strut.x[4]) or flat (strut_x_4), for tools that turn dots into buses"),
    "names": ("A=B,C=D", "other names for variables"),
}


class ExportCommand(cosim.Command):
    """Write a model file as an FMU, a scenario as an FMU or an SSP."""

    name: ClassVar[str] = "export"
    known_as: ClassVar[tuple[str, ...]] = ("build", "convert", "fmu")
    summary: ClassVar[str] = "write a model file as an FMU, a scenario as an FMU or an SSP"
    examples = (
        ("cosim export mount.toml", "mount.fmu; machine code if possible, else Python"),
        ("cosim export mount.toml --python --outputs engine.z,vertical_speed -o small.fmu", "chosen outputs"),
        ("cosim export mount.toml --native --fmi 3 --kind me", "FMI 3.0 Model Exchange"),
        ("cosim export mount.toml --sources", "C99 sources, for targets with their own compiler"),
        ("cosim export loop.toml", "loop.fmu: a whole scenario as one FMU"),
        ("cosim export loop.toml -o loop.ssp", "a scenario, with its FMUs, for other tools"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The model, the FMU, and what of the model can be seen in it."""
        parser.add_argument("model", type=Path, help="a model or a scenario (TOML), or an SSP")
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the FMU (MODEL.fmu), or SSP")
        for name, text in SELECTIONS.items():
            parser.add_argument(f"--{name}", metavar="A,B", help=f"paths or patterns: {text}")
        parser.add_argument("--all", action="store_true", help="include all variables of the model")
        parser.add_argument(
            "--no-defaults", action="store_true", help="leave out parameters with their default value"
        )
        for name, (metavar, text) in SHAPES.items():
            parser.add_argument(f"--{name}", metavar=metavar, help=text)
        parser.add_argument("--step", metavar="TIME", help='communication step to propose: "1 ms"')
        parser.add_argument(
            "--libpython",
            metavar="NAME",
            help="for Linux hosts that are not Python programs: libpython3.11.so.1.0 (patchelf)",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument(
            "--native",
            action="store_true",
            help="machine code that needs no Python (the default if possible)",
        )
        form.add_argument("--python", action="store_true", help="an FMU that runs in a Python interpreter")
        self._add_native_options(parser)
        parser.add_argument(
            "--no-experiment",
            action="store_true",
            help="skip the smoke test, in which the export runs the FMU",
        )
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    @staticmethod
    def _add_native_options(parser: argparse.ArgumentParser) -> None:
        for name, (metavar, text) in NATIVE.items():
            parser.add_argument(f"--{name}", metavar=metavar, help=f"of a native FMU: {text}")
        parser.add_argument(
            "--scalars",
            action="store_true",
            help="of a native FMU for FMI 3: a variable for each element of a vector",
        )
        parser.add_argument(
            "--no-clocks",
            action="store_true",
            help="of a native FMU for FMI 3: no output clocks of periodic events",
        )
        parser.add_argument(
            "--exact-derivatives",
            action="store_true",
            help="of a native FMU: exact directional derivatives, not differences; the export takes longer",
        )
        parser.add_argument(
            "--sources",
            action="store_true",
            help="of a native FMU: C99 sources instead of libraries; with --platforms, both",
        )
        parser.add_argument(
            "--history",
            type=int,
            metavar="N",
            help="of an FMU with sources: number of values that each delay can store (4096)",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, check, export."""
        exporters: list[type[FileExporter]] = [
            entry.cls
            for entry in cosim.registry().entries("file_exporter")
            if entry.cls.reads(arguments.model)
        ]
        if exporters:
            return self._export_file(_fitting(exporters, arguments.output)(), arguments)
        target = arguments.output or Path(f"{arguments.model.stem}.fmu")
        if target.suffix.lower() != ".fmu":
            raise cosim.CosimError(f"{target}: the name of an FMU ends in .fmu")
        check_folder(target)
        options = self._options(arguments)
        model = cosim.Model.from_file(arguments.model)
        with _no_warnings(), nullcontext() if arguments.quiet else compile_notice():
            with seldom_evaluated():
                model.build()  # the exporter builds a copy, whose faults would have no lines
            exporter = model.exporter(options.pop("native"))
            export = exporter.export(model, target, **options)
            summary = _with_experiment(exporter, export, arguments)
        self.report(model=model.name, fmu=export.path, exporter=summary, warnings=[*export.warnings])
        if not arguments.quiet:
            print(f"{model.name} → {export.path}")
            print(summary)
            for text in export.warnings:
                print(f"warning: {text}", file=sys.stderr)
        return 0

    def _export_file(self, exporter: FileExporter, arguments: argparse.Namespace) -> int:
        """Write what is not a model in its own form."""
        target = arguments.output or Path(f"{arguments.model.stem}{exporter.suffix}")
        check_folder(target)
        if refused := [f"--{n}" for n in (*SELECTIONS, "all", "step") if getattr(arguments, n)]:
            raise cosim.CosimError(
                f"{arguments.model}: {', '.join(refused)}: applies only to models; this file is not a model"
            )
        with nullcontext() if arguments.quiet else compile_notice():
            export = exporter.export(arguments.model, target, **self._options(arguments))
            summary = _with_experiment(exporter, export, arguments)
        self.report(written=export.path)
        if not arguments.quiet:
            print("\n".join(filter(None, (f"{arguments.model} → {export.path}", summary))))
        return 0

    def _options(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """The options of the FMU for `Model.export_fmu`."""
        options: dict[str, Any] = {
            name: _listed(text) for name in SELECTIONS if (text := getattr(arguments, name)) is not None
        }
        options |= {"all": True} if arguments.all else {}
        options |= {"defaults": False} if arguments.no_defaults else {}
        options |= {"naming": arguments.naming} if arguments.naming is not None else {}
        options |= {"names": _pairs(arguments.names)} if arguments.names is not None else {}
        if arguments.step is not None:
            options["step_size"] = positive(arguments.step, "s", "--step")
        if arguments.libpython is not None:
            options["libpython"] = arguments.libpython
        return options | self._native(arguments)

    @staticmethod
    def _native(arguments: argparse.Namespace) -> dict[str, Any]:
        typed = {name: getattr(arguments, name) for name in NATIVE if getattr(arguments, name) is not None}
        typed |= {"scalars": True} if arguments.scalars else {}
        typed |= {"clocks": False} if arguments.no_clocks else {}
        typed |= {"sources": True} if arguments.sources else {}
        typed |= {"exact_derivatives": True} if arguments.exact_derivatives else {}
        typed |= {} if arguments.history is None else {"history": arguments.history}
        wants_python = arguments.python or arguments.libpython is not None
        if typed and wants_python:
            option = next(iter(typed)).replace("clocks", "no-clocks").replace("_", "-")
            raise cosim.CosimError(f"--{option} is for native FMUs, not for those that run Python")
        if arguments.native and arguments.libpython is not None:
            raise cosim.CosimError("--libpython is for FMUs that run Python, not for native FMUs")
        native = True if arguments.native or typed else None
        if wants_python:
            native = False
        texts = {name: text for name, text in typed.items() if isinstance(text, str) and name != "fmi"}
        lists = {name: _listed(text) for name, text in texts.items()}
        return {"native": native, **typed, **lists}


def _with_experiment(
    exporter: cosim.Exporter | FileExporter, export: ExportReport, arguments: argparse.Namespace
) -> str:
    """Add an experiment with reference results to the exported file, if it is wanted.

    Returns
    -------
    str
        The summary of the file, with the reason if it has no experiment.
    """
    reason = "" if arguments.no_experiment else exporter.add_experiment(export.path)
    return "\n".join(filter(None, (export.summary, reason)))


def _fitting(exporters: list[type[FileExporter]], target: Path | None) -> type[FileExporter]:
    """The exporter that writes such a file; the first one where none is named."""
    if target is None:
        return exporters[0]
    for exporter in exporters:
        if exporter.suffix == target.suffix.lower():
            return exporter
    endings = " or ".join(f"{exporter.suffix} ({exporter.what})" for exporter in exporters)
    raise cosim.CosimError(f"{target}: needs a name that ends in {endings}")


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Silence the log of exporters, since their warnings are printed."""
    log = logging.getLogger("cosim.export")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _pairs(text: str) -> dict[str, str]:
    """``felt=sensed,osc.force=push``: new names by old ones."""
    pairs = [item.partition("=") for item in _listed(text)]
    wrong = [old for old, sign, new in pairs if not (old.strip() and sign and new.strip())]
    if wrong:
        raise cosim.CosimError(f"--names: {wrong[0]!r} has no other name, write OLD=NEW,OLD=NEW")
    return {old.strip(): new.strip() for old, _, new in pairs}
