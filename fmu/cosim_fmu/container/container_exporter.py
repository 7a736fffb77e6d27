"""The exporter of a scenario or an SSP as one FMU: ``cosim export loop.toml -o loop.fmu``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from cosim.kit import ExportReport
from cosim_export.interface.smoke_experiment import add_smoke_experiment
from cosim_fmu.scenario.scenario_file import is_scenario
from cosim_workbench.contracts import FileExporter


class ContainerExporter(FileExporter):
    """Writes a scenario or an SSP as one FMU: its participants, their connections and their algorithm.

    If no participant needs Python, the FMU needs none (`NativeContainer`). Otherwise it holds the files of
    the scenario and of its FMUs, and runs it in a Python interpreter (pythonfmu). The bits are those of
    ``cosim cosimulate`` in both cases. The variables of the FMU are parameters and inputs that no connection
    feeds, the signals that the scenario records, and the error of the coupling.
    """

    suffix: ClassVar[str] = ".fmu"
    what: ClassVar[str] = "a scenario as an FMU"

    @classmethod
    def reads(cls, path: Path) -> bool:
        """Whether it is a scenario, or an SSP."""
        return is_scenario(path)

    def export(
        self,
        path: Path,
        target: Path,
        *,
        libpython: str | None = None,
        native: bool | None = None,
        variant: str | None = None,
        **options: Any,
    ) -> ExportReport:
        """Write the FMU: a native one where no participant needs Python, else one that runs Python.

        Parameters
        ----------
        path, target : Path
        libpython : str, optional
            As for `PythonFmuExporter`; asks for an FMU that runs Python.
        native : bool, optional
            True: an error where it has to run Python; False: it runs Python.
        variant : str, optional
            The variant of the scenario.
        **options
            Options of a native FMU (`OF_NATIVE`), as in `NativeFmuOptions`.

        Raises
        ------
        ModelError
            Faults of the scenario; files that cannot travel; parts that only Python runs.
        CosimError
            An option that is for other FMUs.
        """
        # a late import: exporting a model needs no co-simulation
        from cosim_fmu.container.write_container import write_container

        summary = write_container(
            path, target, libpython=libpython, native=native, variant=variant, **options
        )
        return ExportReport(target, summary)

    def add_experiment(self, path: Path) -> str:
        """A smoke experiment: some steps, and what the FMU shows."""
        from cosim_fmu.container.container_interface import COUPLING

        # the error of the coupling is computed only when it is read
        return add_smoke_experiment(path, without=f"{COUPLING}.")
