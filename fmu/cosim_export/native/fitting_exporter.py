"""The exporter that writes a native FMU where it can, and else one that runs Python."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import ExportReport, is_plain
from cosim_export.interface.fmu_options import FmuOptions
from cosim_export.interface.smoke_experiment import add_smoke_experiment
from cosim_export.native.native_exporter import NativeFmuExporter, NativeFmuOptions

NATIVE_OPTIONS = [name for name in NativeFmuOptions.option_names() if name not in FmuOptions.option_names()]
"""The options that only native FMUs have."""
NEUTRAL_VALUES = {
    **{"scalars": False, "clocks": True, "sources": False},
    **{"exact_derivatives": False, "derivatives": ()},
}
"""Values of these options that do not ask for a native FMU."""


def _exporter_with_python() -> cosim.Exporter:
    """The exporter of FMUs that run Python; it is imported only when it is needed."""
    from cosim_export.python_fmu.pythonfmu_exporter import PythonFmuExporter

    return PythonFmuExporter()


class FittingFmuExporter(cosim.Exporter):
    """Writes a native FMU if the model can be lowered and there is a compiler, else one that runs Python.

    The summary of the report says which, and why it is not a native one.
    """

    def option_names(self) -> list[str]:
        """Names of the options of both exporters, without those of the integrator."""
        return [name for name in (*NativeFmuOptions.option_names(), "libpython") if name != "compiler"]

    def export(self, model: cosim.Model, path: str | PathLike[str], **options: Any) -> ExportReport:
        """Write the FMU; options as in `NativeFmuOptions` and `PythonFmuOptions`."""
        libpython = options.pop("libpython", None)
        common = {name: value for name, value in options.items() if name not in NATIVE_OPTIONS}
        if libpython is not None:
            return _exporter_with_python().export(model, path, **common, libpython=libpython)
        native = {
            name: value
            for name, value in options.items()
            if name in NATIVE_OPTIONS and value is not None and NEUTRAL_VALUES.get(name) is not value
        }
        try:
            if is_plain():
                raise cosim.ModelError.of("native", "llvmlite, which makes machine code, is missing or off")
            return NativeFmuExporter().export(model, path, **common, **native)
        except cosim.ModelError as error:
            if native:
                raise
            first, *others = (f"{problem.where}: {problem.text}" for problem in error.problems)
        report = _exporter_with_python().export(model, path, **common)
        fallback = f"not a native one: {first}" + (f" (and {len(others)} more)" if others else "")
        form, _, left_out = report.summary.partition("\n")
        return replace(report, summary=f"{form}; {fallback}\n{left_out}".rstrip(), fallback=fallback)

    def add_experiment(self, path: Path) -> str:
        """Add a smoke experiment: some steps, with the outputs as reference results."""
        return add_smoke_experiment(path)
