"""Writes a scenario as one FMU: without Python where possible, otherwise with Python inside."""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import RegisteredClass, is_plain, use_registry
from cosim_export.interface.archive import check_place
from cosim_export.interface.documentation import documentation, needs_of_python
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.model_description import CAPABILITIES
from cosim_export.native.compilers import available_compilers, compilers_for
from cosim_export.native.history_room import DEFAULT_ENTRIES
from cosim_export.native.native_archive import needs_of, write_native_fmu
from cosim_export.native.native_exporter import NativeFmuOptions, native_choices
from cosim_export.python_fmu.bundle import Bundle
from cosim_export.python_fmu.hosted_instance import INTERFACE, REGISTRY
from cosim_export.python_fmu.libpython import patchelf_for
from cosim_export.python_fmu.python_archive import whole_manifest, write_python_fmu
from cosim_export.python_fmu.recording_registry import RecordingRegistry
from cosim_export.python_fmu.slave import MANIFEST
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.container.carried_scenario import FOLDER, CarriedScenario, carried_co_simulation, members
from cosim_fmu.container.container_interface import container_interface
from cosim_fmu.container.native_container import NativeContainer
from cosim_fmu.container.native_refusals import native_refusals
from cosim_master.run.stepped_run import can_divide
from cosim_ssp.package import is_ssp

KIND = "FMI 2.0 Co-Simulation of a whole scenario"
OURS = (
    *("cosim_compiler", "cosim", "cosim_toml", "cosim_signals", "cosim_fmi", "cosim_master", "cosim_export"),
    *("cosim_ssp", "cosim_workbench", "cosim_fmu"),
)
"""Packages that run a co-simulation."""
LIBRARIES = {"fmu": "fmpy", "ssp": "fmpy"}
INSTANCE = "cosim_fmu.container.container_instance:ContainerInstance"
OF_NATIVE = ("platforms", "fmi", "kind", "sources", "history", "compiler")
FIRST_STEPS = 2
"""Steps at the export: the registry entries that they look up travel in the FMU."""


def write_container(
    path: Path,
    target: Path,
    *,
    libpython: str | None = None,
    native: bool | None = None,
    variant: str | None = None,
    **options: Any,
) -> str:
    """Write a scenario or an SSP as an FMU (`ContainerExporter.export`). Returns its description."""
    if odd := [name for name in options if name not in OF_NATIVE]:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in odd)
        raise cosim.CosimError(f"{path}: {names}: does not apply to the FMU of a scenario")
    check_place(target, ".fmu")
    reason = ""
    if native is not False and libpython is None:
        try:
            return _write_native(path, target, variant, NativeFmuOptions.of(options))
        except cosim.ModelError as error:
            if native:
                raise
            first, *others = (f"{problem.where}: {problem.text}" for problem in error.problems)
        reason = f"; not a native one: {first}" + (f" (and {len(others)} more)" if others else "")
    left_out = _write_python(path, target, variant, libpython)
    return "\n".join([f"FMU that runs Python (FMI 2.0 Co-Simulation){reason}", *left_out])


def _write_native(path: Path, target: Path, variant: str | None, options: NativeFmuOptions) -> str:
    """Write an FMU without Python. Returns its description."""
    loop = CoSimulation.from_ssp(path, variant) if is_ssp(path) else CoSimulation.from_file(path, variant)
    interface, left_out = container_interface(loop, path)
    outcome = write_native_container(loop, interface, target, options)
    no_error = ["left out: the error of the coupling, whose samples need memory"] * options.sources
    return "\n".join([outcome, *_left_out(left_out), *no_error])


def _write_python(path: Path, target: Path, variant: str | None, libpython: str | None) -> Sequence[str]:
    """Write an FMU that runs the scenario in a Python interpreter. Returns what it leaves out, in lines."""
    if libpython is not None:
        patchelf_for(libpython)
    carried = CarriedScenario.of(path, variant)
    with closing(RecordingRegistry(cosim.registry())) as registry, use_registry(registry):
        with tempfile.TemporaryDirectory(prefix="cosim_export_") as folder:
            for name, content in carried.files.items():
                file = Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            loop = carried_co_simulation(Path(folder))
            interface, left_out = container_interface(loop, path)
            _run_first_steps(loop)
            beside = {file.resolve() for file in loop.python_files.values()}
            used = [entry for entry in registry.used.values() if not _is_of(entry, beside)]
        entries = [entry for record in registry.plugins for entry in record.entries]
    bundle = Bundle(used, entries, OURS)
    for library in {LIBRARIES[kind] for kind in members(carried) if kind in LIBRARIES}:
        bundle.require(library)
    manifest = whole_manifest(bundle, interface.model_name, INSTANCE)
    rows = sorted((entry.to_dict() for entry in used), key=lambda row: (row["kind"], row["id"]))
    files = {
        MANIFEST: _json(manifest),
        INTERFACE: interface.to_json().encode(),
        REGISTRY: _json(rows),
        **{f"{FOLDER}/{name}": content for name, content in carried.files.items()},
    }
    page = documentation(None, interface, KIND, needs_of_python(manifest), resumes_exactly=True)
    write_python_fmu(target, files, bundle, interface, page, libpython, _abilities(loop))
    return _left_out(left_out)


def write_native_container(
    loop: CoSimulation, interface: ExportedInterface, target: Path, options: NativeFmuOptions
) -> str:
    """Write a co-simulation of systems as an FMU without Python. Returns its description, in words.

    Parameters
    ----------
    loop : CoSimulation
    interface : ExportedInterface
        From `container_interface`.
    target : Path
    options : NativeFmuOptions
        Those in `OF_NATIVE` count.

    Raises
    ------
    ModelError
        Parts that only Python runs; wrong options.
    """
    if is_plain():
        raise cosim.ModelError.of("native", "llvmlite, which makes machine code, is missing or off")
    if options.history is not None and not options.sources:
        raise cosim.ModelError.of("history", "applies to sources only: in a library histories grow")
    if problems := native_refusals(loop, sources=options.sources):  # before anything takes long
        raise cosim.ModelError(problems)
    version, kinds, chosen = native_choices(options)
    if kinds is not None and kinds != ["cs"]:
        raise cosim.ModelError.of("kind", "is not cs: the FMU of a scenario is for Co-Simulation only")
    compilers = compilers_for(
        chosen, available_compilers() if options.compiler is None else (options.compiler,)
    )
    entries = (DEFAULT_ENTRIES if options.history is None else options.history) if options.sources else None
    container = NativeContainer(loop, interface, version, bool(chosen), entries)
    name = f"FMI {version}.0 Co-Simulation of a whole scenario, without Python"
    page = documentation(None, container.interface, name, needs_of(chosen), resumes_exactly=True)
    resources = container.resources(chosen)
    listed = write_native_fmu(target, container, compilers, chosen, page, resources)
    texts = f"\nleft out: text ({', '.join(container.texts)})" if container.texts else ""
    return f"native FMU ({name}; {listed}){texts}"


def _run_first_steps(loop: CoSimulation) -> None:
    """Run some steps, so that everything is looked up; a scenario that cannot run does not become an FMU."""
    run = loop.led_run()
    run.initialize()
    try:
        for i in range(1, FIRST_STEPS + 1):
            if not run.stop_reason:
                run.advance(loop.start + i * loop.step, loop.step)
    finally:
        run.close()


def _abilities(loop: CoSimulation) -> Mapping[str, str]:
    """The abilities of the FMU: those that all of its participants have."""
    descriptions = loop.descriptions.values()
    abilities = {
        "canHandleVariableCommunicationStepSize": can_divide(loop),
        "canBeInstantiatedOnlyOncePerProcess": any(each.only_once for each in descriptions),
        "canGetAndSetFMUstate": all(each.can_restore for each in descriptions),
        "canSerializeFMUstate": all(each.can_restore and each.can_serialize for each in descriptions),
    }
    return {**CAPABILITIES, **{name: str(value).lower() for name, value in abilities.items()}}


def _is_of(entry: RegisteredClass, files: set[Path]) -> bool:
    """Whether a class belongs to a Python file of the scenario, which travels with it."""
    module = importlib.import_module(entry.cls.__module__)
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() in files


def _left_out(counts: Mapping[str, int]) -> Sequence[str]:
    if not counts:
        return []
    return ["left out: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))]


def _json(data: Any) -> bytes:
    return json.dumps(data, indent=1, sort_keys=True).encode()
