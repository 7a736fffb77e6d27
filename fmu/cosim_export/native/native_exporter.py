"""The exporter of FMUs that need no Python where they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim.kit import ExportReport
from cosim_export.interface.archive import check_place
from cosim_export.interface.documentation import documentation
from cosim_export.interface.fmu_exporter import FmuExporter, check_parts
from cosim_export.interface.fmu_options import FmuOptions
from cosim_export.interface.names import Naming
from cosim_export.native.compilers import Compiler, available_compilers, compilers_for, default_platforms
from cosim_export.native.history_room import DEFAULT_ENTRIES
from cosim_export.native.native_archive import needs_of, write_native_fmu
from cosim_export.native.native_sources import NativeChoices, NativeSources
from cosim_export.native.platforms import Platform, chosen_platforms
from cosim_lowering.refusals import component_refusals, method_refusals

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
        Whether each element of a vector or matrix is a separate variable in FMI 3.0, as in FMI 2.0.
    clocks : bool
        Whether periodic events are output clocks in FMI 3.0, which some tools do not read.
    sources : bool
        Whether the FMU contains C99 sources, for tools that compile FMUs themselves. It then has libraries
        only for the `platforms` that are named.
    history : int, optional
        With sources: the number of past values that each delayed signal can store, since nothing is allocated
        after the instantiation; by default 4096.
    exact_derivatives : bool
        Whether directional and adjoint derivatives are exact instead of differences: the export takes up to
        twice as long, and the library is half as large again.
    derivatives : sequence of str
        Paths of parameters, start values and inputs (elements count from 0). The derivatives of all real
        outputs by these along the run become outputs of a Co-Simulation, with the numbers of
        ``simulate(derivatives=…)`` and names such as ``'d(ball.height)/d(ball.e)'``.
    compiler : Compiler, optional
        By default the best one that is installed.
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

    A model with parts that cannot be lowered (components with Python methods, integrators of libraries) is
    refused: one error names all of them and the alternatives. On one platform the results equal those of
    `Simulator` to the last bit if the functions of the C library do.

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
        target, settings = Path(path), NativeFmuOptions.of(options)
        if settings.history is not None and not settings.sources:
            raise cosim.ModelError.of("history", "applies to sources only: in a library histories grow")
        if settings.exact_derivatives and settings.sources:
            raise cosim.ModelError.of("exact_derivatives", "are not printed: leave out sources")
        version, kinds, platforms = native_choices(settings)
        if settings.derivatives:
            kinds = _kinds_with_derivatives(settings, kinds)
        naming = Naming.of(settings.naming, settings.names)
        compilers = compilers_for(
            platforms, available_compilers() if settings.compiler is None else (settings.compiler,)
        )
        check_place(target, ".fmu")
        check_parts(model)
        history_entries = None
        if settings.sources:
            history_entries = DEFAULT_ENTRIES if settings.history is None else settings.history
        choices = NativeChoices(
            version=version,
            kinds=list(KINDS) if kinds is None else kinds,
            selections=settings.selections,
            settings=settings.settings(model),
            naming=naming,
            has_arrays=not settings.scalars,
            has_clocks=settings.clocks,
            has_library=bool(platforms),
            has_tangents=settings.exact_derivatives,
            derivatives=_names(settings.derivatives),
            history_entries=history_entries,
        )
        sources = NativeSources(model, choices)
        name = f"FMI {version}.0 {' and '.join(KINDS[k] for k in sources.kinds)}, without Python"
        resumes_exactly = sources.program.integrator.capabilities.resumes_exactly
        page = documentation(model, sources.interface, name, needs_of(platforms), resumes_exactly)
        contents = write_native_fmu(target, sources, compilers, platforms, page)
        return self.report(target, f"native FMU ({name}; {contents})", sources.interface, sources.left_out)


def native_choices(options: NativeFmuOptions) -> tuple[int, list[str] | None, list[Platform]]:
    """The version, kinds and platforms to write; raises all faults of the three together."""
    problems: list[cosim.Problem] = []

    def collect(choose: Callable[[], Any]) -> Any:
        """The choice; its faults are added to `problems`."""
        try:
            return choose()
        except cosim.ModelError as error:
            problems.extend(error.problems)

    choices = (
        collect(lambda: _version(options.fmi)),
        collect(lambda: None if options.kind is None else _kinds(options.kind)),
        collect(
            lambda: _platforms(() if options.sources and options.platforms is None else options.platforms)
        ),
    )
    if problems:
        raise cosim.ModelError(problems)
    return choices


def _platforms(platforms: str | Sequence[str] | None) -> list[Platform]:
    """The named platforms, by default that of this machine; none for an empty tuple."""
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
    """The kinds of an FMU with `derivatives`: Co-Simulation, since they need the FMU's own integrator."""
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
