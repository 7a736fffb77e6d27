"""``cosim export loop.toml -o loop.fmu``."""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim.kit import Entry, is_plain, use_registry
from cosim_export.interface.archive import check_place
from cosim_export.interface.documentation import documentation, needs_of_python
from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.model_description import CAPABILITIES
from cosim_export.interface.smoke_experiment import add_smoke_experiment
from cosim_export.native.compilers import available_compilers, compilers_for
from cosim_export.native.history_room import DEFAULT_ENTRIES
from cosim_export.native.native_exporter import (
    NativeFmuOptions,
    native_choices,
    needs_of,
    write_native_fmu,
)
from cosim_export.python_fmu.bundle import Bundle
from cosim_export.python_fmu.fmu_instance import INTERFACE, REGISTRY
from cosim_export.python_fmu.python_archive import whole_manifest, write_python_fmu
from cosim_export.python_fmu.pythonfmu_exporter import RecordingRegistry
from cosim_export.python_fmu.pythonfmu_library import patchelf_for
from cosim_export.python_fmu.slave import MANIFEST
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.container.carried_scenario import FOLDER, CarriedScenario, carried_co_simulation, members
from cosim_fmu.container.container_interface import COUPLING, container_interface
from cosim_fmu.container.native_container import NativeContainer
from cosim_fmu.container.native_refusals import native_refusals
from cosim_fmu.scenario_subject import ScenarioSubject
from cosim_master.run.stepped_run import can_divide
from cosim_ssp.package import is_ssp
from cosim_workbench.contracts import FileExporter

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
"""That are taken at the export: what they look up in the registry travels."""


class ContainerExporter(FileExporter):
    """Writes a scenario or an SSP as one FMU: its participants, their connections and their algorithm.

    The FMU holds the files of the scenario, those of foreign FMUs among them, and runs it in a Python
    interpreter (pythonfmu): the bits are those of ``cosim cosimulate``. Parameters and inputs that no
    connection feeds are variables of it, as are what the scenario records and the error of the coupling.
    """

    suffix: ClassVar[str] = ".fmu"
    what: ClassVar[str] = "a scenario as an FMU"

    @classmethod
    def reads(cls, path: Path) -> bool:
        """Whether it is a scenario, or an SSP."""
        return ScenarioSubject.reads(path)

    def export(
        self,
        path: Path,
        target: Path,
        *,
        libpython: str | None = None,
        native: bool | None = None,
        variant: str | None = None,
        **options: Any,
    ) -> Path:
        """Write the FMU: a native one where no participant needs Python, else one that runs Python.

        Parameters
        ----------
        path, target : Path
        libpython : str, optional
            As for `PythonFmuExporter`; asks for an FMU that runs Python.
        native : bool, optional
            True: an error where it has to run Python; False: it runs Python.
        variant : str, optional
            Of the scenario.
        **options
            Of a native FMU: those in `OF_NATIVE`, as `NativeFmuOptions` has them.

        Raises
        ------
        ModelError
            What is wrong with the scenario, or cannot travel; what runs in Python alone.
        CosimError
            An option that is for other FMUs.
        """
        if odd := [name for name in options if name not in OF_NATIVE]:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in odd)
            raise cosim.CosimError(f"{path}: {names}: does not apply to the FMU of a scenario")
        check_place(target, ".fmu")
        reason = ""
        if native is not False and libpython is None:
            try:
                return self._write_native(path, target, variant, NativeFmuOptions.of(options))
            except cosim.ModelError as error:
                if native:
                    raise
                first, *others = (f"{problem.where}: {problem.text}" for problem in error.problems)
            reason = f"; not a native one: {first}" + (f" (and {len(others)} more)" if others else "")
        self._write_python(path, target, variant, libpython)
        what, _, more = self.summary.partition("\n")
        self.summary = f"{what}{reason}\n{more}".rstrip()
        return target

    def _write_native(self, path: Path, target: Path, variant: str | None, given: NativeFmuOptions) -> Path:
        """An FMU without Python."""
        loop = CoSimulation.from_ssp(path, variant) if is_ssp(path) else CoSimulation.from_file(path, variant)
        interface, left_out = container_interface(loop, path)
        what = write_native_container(loop, interface, target, given)
        no_error = ["left out: the error of the coupling, whose samples need memory"] * given.sources
        self.summary = "\n".join([what, *_left_out(left_out), *no_error])
        return target

    def _write_python(self, path: Path, target: Path, variant: str | None, libpython: str | None) -> None:
        """An FMU that runs the scenario in a Python interpreter."""
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
            known = [entry for record in registry.plugins for entry in record.entries]
        bundle = Bundle(used, known, OURS)
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
        self.summary = "\n".join(["FMU that runs Python (FMI 2.0 Co-Simulation)", *_left_out(left_out)])

    def add_experiment(self, path: Path) -> str:
        """A smoke experiment: some steps, and what the FMU shows."""
        return add_smoke_experiment(path, without=f"{COUPLING}.")  # which are worked out when they are read


def write_native_container(
    loop: CoSimulation, interface: FmuInterface, target: Path, given: NativeFmuOptions
) -> str:
    """Write a co-simulation of systems as an FMU without Python; what it is, in words.

    Parameters
    ----------
    loop : CoSimulation
    interface : FmuInterface
        From `container_interface`.
    target : Path
    given : NativeFmuOptions
        Those in `OF_NATIVE` count.

    Raises
    ------
    ModelError
        What of it runs in Python alone; options that are wrong.
    """
    if is_plain():
        raise cosim.ModelError.of("native", "llvmlite, which makes machine code, is missing or off")
    if given.history is not None and not given.sources:
        raise cosim.ModelError.of("history", "applies to sources only: in a library histories grow")
    if problems := native_refusals(loop, sources=given.sources):  # before anything takes long
        raise cosim.ModelError(problems)
    version, kinds, chosen = native_choices(given)
    if kinds is not None and kinds != ["cs"]:
        raise cosim.ModelError.of("kind", "is not cs: the FMU of a scenario is for Co-Simulation only")
    compilers = compilers_for(chosen, available_compilers() if given.compiler is None else (given.compiler,))
    entries = (DEFAULT_ENTRIES if given.history is None else given.history) if given.sources else None
    container = NativeContainer(loop, interface, version, bool(chosen), entries)
    name = f"FMI {version}.0 Co-Simulation of a whole scenario, without Python"
    page = documentation(None, container.interface, name, needs_of(chosen), resumes_exactly=True)
    resources = container.resources(chosen)
    listed = write_native_fmu(target, container, compilers, chosen, page, resources)
    texts = f"\nleft out: text ({', '.join(container.texts)})" if container.texts else ""
    return f"native FMU ({name}; {listed}){texts}"


def _run_first_steps(loop: CoSimulation) -> None:
    """So that all is looked up that a run looks up; a scenario that cannot run is not an FMU."""
    run = loop.led_run()
    run.begin()
    try:
        for i in range(1, FIRST_STEPS + 1):
            if not run.stop_reason:
                run.advance(loop.start + i * loop.step, loop.step)
    finally:
        run.close()


def _abilities(loop: CoSimulation) -> Mapping[str, str]:
    """What the FMU can do follows from what all of its participants can."""
    descriptions = loop.descriptions.values()
    abilities = {
        "canHandleVariableCommunicationStepSize": can_divide(loop),
        "canBeInstantiatedOnlyOncePerProcess": any(each.only_once for each in descriptions),
        "canGetAndSetFMUstate": all(each.can_restore for each in descriptions),
        "canSerializeFMUstate": all(each.can_restore and each.can_serialize for each in descriptions),
    }
    return {**CAPABILITIES, **{name: str(value).lower() for name, value in abilities.items()}}


def _is_of(entry: Entry, files: set[Path]) -> bool:
    """Whether a class is of a Python file beside the scenario, which travels with that."""
    module = importlib.import_module(entry.cls.__module__)
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() in files


def _left_out(counts: Mapping[str, int]) -> Sequence[str]:
    if not counts:
        return []
    return ["left out: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))]


def _json(data: Any) -> bytes:
    return json.dumps(data, indent=1, sort_keys=True).encode()
