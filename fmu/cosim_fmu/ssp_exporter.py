"""``cosim export loop.toml -o loop.ssp``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from cosim.kit import ExportReport
from cosim_fmu.scenario.scenario_file import is_scenario
from cosim_ssp.package import is_ssp
from cosim_workbench.contracts import FileExporter


class SspExporter(FileExporter):
    """Writes a scenario as an SSP; systems of ours are exported as FMUs, which the SSP holds."""

    suffix: ClassVar[str] = ".ssp"
    what: ClassVar[str] = "a scenario as an SSP"

    @classmethod
    def reads(cls, path: Path) -> bool:
        """Whether it is a scenario, or an SSP (written again, valid)."""
        return is_scenario(path)

    def export(self, path: Path, target: Path, **options: Any) -> ExportReport:
        """Write the SSP; a `ModelError` names the participants that none can hold."""
        # here, since who exports a model needs no co-simulation
        from cosim_fmu.co_simulation import CoSimulation

        make = CoSimulation.from_ssp if is_ssp(path) else CoSimulation.from_file
        return ExportReport(make(path).to_ssp(target, **options))
