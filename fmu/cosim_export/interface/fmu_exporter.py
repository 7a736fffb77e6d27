"""What exporters of FMUs tell when they have written one."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import cosim
from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.left_out import bus_warnings, left_out_text

log = logging.getLogger("cosim.export")


class FmuExporter(cosim.Exporter):
    """An exporter whose summary counts what the FMU does not show, and that warns of names."""

    def tell(self, what: str, interface: FmuInterface, left_out: Mapping[str, int]) -> None:
        """Keep the summary and the warnings of what was written; warnings are logged as well."""
        self.summary = "\n".join(line for line in (what, left_out_text(left_out)) if line)
        self.warnings = bus_warnings(interface.variables)
        for text in self.warnings:
            log.warning("%s: %s", interface.model_name, text)
