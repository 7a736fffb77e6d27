"""The exporter that takes the native one where it can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import is_plain
from cosim_export.native.native_exporter import NativeFmuExporter
from cosim_export.python_fmu.pythonfmu_exporter import PythonFmuExporter


class FittingFmuExporter(cosim.Exporter):
    """Writes a native FMU where all of a model can be lowered and a compiler is here, else a Python one.

    `summary` says which, and why it is not the native one.
    """

    def export(
        self,
        model: cosim.Model,
        path: str | PathLike[str],
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        parameters: Sequence[str] | None = None,
        expose: Sequence[str] | None = None,
        step_size: float | None = None,
        stop_time: float | None = None,
        integrator: str | None = None,
        accuracy: float | None = None,
        all: bool = False,  # noqa: A002
        platforms: str | Sequence[str] | None = None,
        fmi: int | str | None = None,
        kind: str | Sequence[str] | None = None,
        defaults: bool = True,
        naming: str = "structured",
        names: Mapping[str, str] | None = None,
        scalars: bool = False,
        clocks: bool = True,
        sources: bool = False,
        history: int | None = None,
        libpython: str | None = None,
        **options: Any,
    ) -> Path:
        """Write the FMU; options as for `NativeFmuExporter.export` and `PythonFmuExporter.export`."""
        arguments: dict[str, Any] = {"inputs": inputs, "outputs": outputs, "parameters": parameters}
        arguments |= {"expose": expose, "step_size": step_size, "stop_time": stop_time}
        arguments |= {"integrator": integrator, "accuracy": accuracy, "all": all, **options}
        arguments |= {"defaults": defaults, "naming": naming, "names": names}
        if libpython is not None:
            return self._written(PythonFmuExporter(), model, path, {**arguments, "libpython": libpython})
        native = {"platforms": platforms, "fmi": fmi, "kind": kind}
        native = {name: value for name, value in native.items() if value is not None}
        native |= {"scalars": True} if scalars else {}
        native |= {} if clocks else {"clocks": False}
        native |= {"sources": True} if sources else {}
        native |= {} if history is None else {"history": history}
        try:
            if is_plain():
                raise cosim.ModelError.of("native", "llvmlite, which makes machine code, is missing or off")
            return self._written(NativeFmuExporter(), model, path, {**arguments, **native})
        except cosim.ModelError as error:
            if native:
                raise
            first, *others = (f"{problem.where}: {problem.text}" for problem in error.problems)
        written = self._written(PythonFmuExporter(), model, path, arguments)
        self.fallback = f"not a native one: {first}" + (f" (and {len(others)} more)" if others else "")
        what, _, more = self.summary.partition("\n")
        self.summary = f"{what}; {self.fallback}\n{more}".rstrip()
        return written

    def _written(
        self, exporter: cosim.Exporter, model: cosim.Model, path: Any, arguments: dict[str, Any]
    ) -> Path:
        written = exporter.export(model, path, **arguments)
        self.summary, self.warnings = exporter.summary, exporter.warnings
        return written
