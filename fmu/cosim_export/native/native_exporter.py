"""The exporter of FMUs that need no Python where they run."""

from __future__ import annotations

import importlib.metadata
import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Protocol

import cosim
from cosim.kit import ExportReport, is_plain
from cosim_export.interface.archive import check_place, write_archive
from cosim_export.interface.documentation import documentation, license_entry
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_exporter import FmuExporter, check_parts
from cosim_export.interface.fmu_options import FmuOptions
from cosim_export.interface.icon import icon
from cosim_export.interface.names import Naming
from cosim_export.interface.smoke_experiment import add_smoke_experiment
from cosim_export.native.compilers import (
    Compiler,
    Library,
    Platform,
    available_compilers,
    chosen_platforms,
    compilers_for,
    default_platforms,
    universal_library,
)
from cosim_export.native.history_room import DEFAULT_ENTRIES
from cosim_export.native.native_sources import SHELL, NativeChoices, NativeSources
from cosim_export.native.terminals import ICON, PLACE
from cosim_lowering.machine_code import MachineCode
from cosim_lowering.refusals import component_refusals, method_refusals

log = logging.getLogger("cosim.native")
DESCRIPTION = "modelDescription.xml"
KINDS = {"cs": "Co-Simulation", "me": "Model Exchange"}


@dataclass(frozen=True, kw_only=True)
class NativeFmuOptions(FmuOptions):
    """Options of FMUs that need no Python.

    Attributes
    ----------
    platforms : str or sequence of str, optional
        "linux64", "aarch64-linux", "win64", "darwin64" (both processors), or "all", for which the package
        ``ziglang`` has to be installed; by default this machine's own.
    fmi : int
        2 or 3.
    kind : str or sequence of str, optional
        "cs" (Co-Simulation), "me" (Model Exchange); both unless given.
    scalars : bool
        Whether each element of a vector or matrix is a variable of its own in FMI 3.0, as in FMI 2.0.
    clocks : bool
        Whether periodic events are output clocks in FMI 3.0, which some tools do not read.
    sources : bool
        Whether the FMU brings C99 sources, for tools that compile themselves. It then has libraries for the
        `platforms` that are given, and for none unless some are.
    history : int, optional
        With sources: how many values of each signal can be remembered (delays …), since nothing is allocated
        after the instantiation; 4096 unless given.
    exact_derivatives : bool
        Whether directional and adjoint derivatives are exact, and no differences: the export takes up to
        twice as long, and the library is half as large again.
    derivatives : sequence of str
        Paths of parameters, start values and inputs (elements count from 0): the derivatives of all real
        outputs by them, along the run, are outputs of a Co-Simulation, too, with the numbers of
        ``simulate(derivatives=…)``. Their names are ``'d(ball.height)/d(ball.e)'``.
    compiler : Compiler, optional
        In place of the best one that is installed.
    """

    platforms: str | Sequence[str] | None = None
    fmi: int | str = 2
    kind: str | Sequence[str] | None = None
    scalars: bool = False
    clocks: bool = True
    sources: bool = False
    history: int | None = None
    exact_derivatives: bool = False
    derivatives: str | Sequence[str] = ()
    compiler: Compiler | None = None


class NativeFmuExporter(FmuExporter):
    """Writes a model as an FMU whose library is machine code alone: FMI 2.0 or 3.0, any of five processors.

    All mathematics comes from the kernel functions of the components and of the integrator, lowered ahead of
    time; the libraries need nothing but the C library of the platform. The variables are those that
    `PythonFmuExporter` gives, with the same value references.

    What cannot be lowered (components with Python methods, integrators of libraries) is refused, all of it at
    once, with what to do instead. On one platform the results are those of `Simulator` to the last bit, as
    far as the C library's mathematics is the same.

    The same model, exported on the same machine by the same versions, gives the same bytes; the identifier
    (guid, instantiation token) is a digest of the content.

    References
    ----------
    Functional Mock-up Interface 2.0.4 and 3.0.
    """

    options: ClassVar[type[FmuOptions]] = NativeFmuOptions
    title: ClassVar[str] = "without Python (native FMU)"

    def refusals(self, cls: type) -> list[cosim.Problem]:
        """The parts of a class that cannot run without Python."""
        if issubclass(cls, cosim.Component):
            return component_refusals(cls)
        return method_refusals(cls) if issubclass(cls, cosim.Integrator) else []

    def export(self, model: cosim.Model, path: str | PathLike[str], **options: Any) -> ExportReport:
        """Write the FMU; see `NativeFmuOptions`.

        Examples
        --------
        ``model.export_fmu("engine_mount.fmu", native=True, platforms=["linux64", "win64"], fmi=3)``
        """
        target, given = Path(path), NativeFmuOptions.of(options)
        if given.history is not None and not given.sources:
            raise cosim.ModelError.of("history", "applies to sources only: in a library histories grow")
        if given.exact_derivatives and given.sources:
            raise cosim.ModelError.of("exact_derivatives", "are not printed: leave out sources")
        version, kinds, chosen = native_choices(given)
        if given.derivatives:
            kinds = _kinds_with_derivatives(given, kinds)
        called = Naming.of(given.naming, given.names)
        of_choice = available_compilers() if given.compiler is None else (given.compiler,)
        compilers = compilers_for(chosen, of_choice)
        check_place(target, ".fmu")
        check_parts(model)
        entries = (DEFAULT_ENTRIES if given.history is None else given.history) if given.sources else None
        choices = NativeChoices(
            version=version,
            kinds=list(KINDS) if kinds is None else kinds,
            selections=given.selections,
            settings=given.settings(model),
            naming=called,
            has_arrays=not given.scalars,
            has_clocks=given.clocks,
            has_library=bool(chosen),
            has_tangents=given.exact_derivatives,
            derivatives=_names(given.derivatives),
            history_entries=entries,
        )
        sources = NativeSources(model, choices)
        name = f"FMI {version}.0 {' and '.join(KINDS[k] for k in sources.kinds)}, without Python"
        exactly = sources.program.integrator.capabilities.resumes_exactly
        page = documentation(model, sources.interface, name, needs_of(chosen), exactly)
        contents = write_native_fmu(target, sources, compilers, chosen, page)
        return self.report(target, f"native FMU ({name}; {contents})", sources.interface, sources.left_out)


class NativeParts(Protocol):
    """The parts of a native FMU: of a model (`NativeSources`), or of a co-simulation."""

    version: int
    interface: ExportedInterface
    description: bytes
    terminals: bytes | None

    @property
    def files(self) -> Sequence[Path]:
        """C files that all FMUs share."""

    @property
    def printed(self) -> Mapping[str, bytes]:
        """The folder ``sources``, by name."""

    @property
    def codes(self) -> Sequence[MachineCode]:
        """Compiled functions."""

    @property
    def generated(self) -> Mapping[str, str]:
        """C files that are written for it, by name."""


def write_native_fmu(
    target: Path,
    parts: NativeParts,
    compilers: Mapping[str, Compiler],
    platforms: Sequence[Platform],
    page: str,
    more: Mapping[str, bytes] | None = None,
) -> str:
    """Build the libraries and write the archive. Returns a list of the contents, in words.

    Parameters
    ----------
    target : Path
    parts : NativeParts
    compilers : mapping of str to Compiler
        By platform.
    platforms : sequence of Platform
    page : str
        The documentation.
    more : mapping of str to bytes, optional
        Other files of the archive.
    """
    archive = dict(more or {})
    archive |= _libraries(compilers, platforms, parts)
    archive |= {f"sources/{file}": content for file, content in parts.printed.items()}
    licences = _licence()
    archive |= {DESCRIPTION: parts.description, "documentation/index.html": page.encode(), **licences}
    archive |= license_entry(parts.interface.about, licences)
    archive["model.png" if parts.version == 2 else ICON] = icon()
    if parts.terminals is not None:
        archive[PLACE] = parts.terminals
    write_archive(target, archive)
    return ", ".join([*(platform.name for platform in platforms), *["C99 sources"] * bool(parts.printed)])


def native_choices(options: NativeFmuOptions) -> tuple[int, list[str] | None, list[Platform]]:
    """The version, kinds and platforms to write; raises all faults of the three together."""
    problems: list[cosim.Problem] = []

    def tried(choose: Callable[[], Any]) -> Any:
        try:
            return choose()
        except cosim.ModelError as error:
            problems.extend(error.problems)

    choices = (
        tried(lambda: _version(options.fmi)),
        tried(lambda: None if options.kind is None else _kinds(options.kind)),
        tried(lambda: _platforms(() if options.sources and options.platforms is None else options.platforms)),
    )
    if problems:
        raise cosim.ModelError(problems)
    return choices


def _platforms(platforms: str | Sequence[str] | None) -> list[Platform]:
    """The named platforms; by default that of this machine, and none if an FMU of sources names none."""
    if platforms == ():
        return []
    return chosen_platforms(default_platforms() if platforms is None else _names(platforms))


def _version(fmi: int | str) -> int:
    if str(fmi) not in ("2", "3", "2.0", "3.0"):
        raise cosim.ModelError.of("fmi", f"is {fmi!r}, needs 2 or 3")
    return int(float(fmi))


def _kinds(kinds: str | Sequence[str]) -> list[str]:
    names = _names(kinds)
    wrong = [name for name in names if name not in KINDS]
    if wrong or not names:
        raise cosim.ModelError.of("kind", f"is {', '.join(wrong) or 'empty'}, needs cs, me or both")
    return [kind for kind in KINDS if kind in names]


def _kinds_with_derivatives(options: NativeFmuOptions, kinds: list[str] | None) -> list[str]:
    """Co-Simulation alone: another integrator takes no derivatives along."""
    problems = []
    if options.sources:
        problems.append(cosim.Problem("derivatives", "are not printed: leave out sources"))
    if kinds is not None and "me" in kinds:
        problems.append(cosim.Problem("derivatives", "need our integrator: the kind cs, without me"))
    if problems:
        raise cosim.ModelError(problems)
    return ["cs"]


def _names(text: str | Sequence[str]) -> list[str]:
    """The names in a list, which may be written as one text with commas."""
    return [name.strip() for name in text.split(",")] if isinstance(text, str) else list(text)


def _libraries(
    compilers: Mapping[str, Compiler], platforms: Sequence[Platform], sources: NativeParts
) -> dict[str, bytes]:
    """The shared libraries, by their names in the archive."""
    libraries, count, number = {}, sum(len(platform.targets) for platform in platforms), 0
    for platform in platforms:
        built = {}
        for target in platform.targets:
            number += 1
            log.info("building library %d of %d, for %s", number, count, target.folder3)
            with tempfile.TemporaryDirectory(prefix="cosim_export_") as name:
                folder = Path(name)
                files = list(sources.files)
                for file, text in sources.generated.items():
                    files.append(folder / file)
                    files[-1].write_text(text, "utf-8")
                parts = Library(files, SHELL, sources.codes, target, platform.suffix)
                built[target.folder3] = compilers[platform.name].library(parts, folder)
        if sources.version == 2:
            built = {platform.name: universal_library(list(built.values()))}
        for place, data in built.items():
            libraries[f"binaries/{place}/{sources.interface.identifier}{platform.suffix}"] = data
    return libraries


def needs_of(platforms: Sequence[Platform]) -> list[str]:
    """The requirements of the machine on which the FMU runs."""
    if not platforms:
        return ["A C99 compiler and the C library: the FMU has sources alone."]
    return [
        f"One of these platforms: {', '.join(p.name for p in platforms)}. Nothing has to be installed: the "
        "library needs the C library of the operating system alone."
    ]


def _licence() -> dict[str, bytes]:
    """Ours, of the C files and of what was lowered."""
    try:
        files = importlib.metadata.files("cosim-framework") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    paths = [Path(str(file.locate())) for file in files if file.name == "LICENSE"]
    name = "documentation/licenses/cosim-framework/LICENSE"
    return {name: paths[0].read_bytes()} if paths and paths[0].is_file() else {}


OF_NATIVE = [name for name in NativeFmuOptions.option_names() if name not in FmuOptions.option_names()]
AS_USUAL = {"scalars": False, "clocks": True, "sources": False, "exact_derivatives": False, "derivatives": ()}
"""The values of options that do not ask for a native FMU."""


def _exporter_with_python() -> cosim.Exporter:
    """The exporter of FMUs that run Python, which is imported where one is wanted."""
    from cosim_export.python_fmu.pythonfmu_exporter import PythonFmuExporter

    return PythonFmuExporter()


class FittingFmuExporter(cosim.Exporter):
    """Writes a native FMU where all of a model can be lowered and a compiler is here, else a Python one.

    The summary of a report says which, and why it is not the native one.
    """

    def option_names(self) -> list[str]:
        """Names of the options of both, but for those of the integrator."""
        return [name for name in (*NativeFmuOptions.option_names(), "libpython") if name != "compiler"]

    def export(self, model: cosim.Model, path: str | PathLike[str], **options: Any) -> ExportReport:
        """Write the FMU; options as in `NativeFmuOptions` and `PythonFmuOptions`."""
        libpython = options.pop("libpython", None)
        of_both = {name: value for name, value in options.items() if name not in OF_NATIVE}
        if libpython is not None:
            return _exporter_with_python().export(model, path, **of_both, libpython=libpython)
        wanted = {name: value for name, value in options.items() if name in OF_NATIVE and value is not None}
        native = {name: value for name, value in wanted.items() if AS_USUAL.get(name) is not value}
        try:
            if is_plain():
                raise cosim.ModelError.of("native", "llvmlite, which makes machine code, is missing or off")
            return NativeFmuExporter().export(model, path, **of_both, **native)
        except cosim.ModelError as error:
            if native:
                raise
            first, *others = (f"{problem.where}: {problem.text}" for problem in error.problems)
        report = _exporter_with_python().export(model, path, **of_both)
        fallback = f"not a native one: {first}" + (f" (and {len(others)} more)" if others else "")
        form, _, left_out = report.summary.partition("\n")
        return replace(report, summary=f"{form}; {fallback}\n{left_out}".rstrip(), fallback=fallback)

    def add_experiment(self, path: Path) -> str:
        """A smoke experiment: some steps, and what the FMU shows."""
        return add_smoke_experiment(path)
