"""``cosim info system.ssp``."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from cosim_ssp.describe import describe_ssp
from cosim_workbench.contracts import Describer


class SspDescriber(Describer):
    """Says which elements an SSP has, how they are connected, and what was noticed in reading it."""

    suffixes: ClassVar[tuple[str, ...]] = (".ssp", ".ssd")
    what: ClassVar[str] = "a system of other tools (.ssp, .ssd)"

    def describe(self, path: Path) -> str:
        """Elements, connections, how it is run, variants."""
        return describe_ssp(path)
