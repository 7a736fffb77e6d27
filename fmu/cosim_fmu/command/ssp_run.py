"""SSPs that the command line runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import cosim
from cosim_master.coupling.coupling import Coupling
from cosim_master.participants.isolation import DECLARED, Isolation
from cosim_ssp.couple_ssp import couple_ssp
from cosim_ssp.package import is_ssp

Coupled = TypeVar("Coupled", bound=Coupling)
MOST_FINDINGS = 20


@dataclass
class SspRun:
    """An SSP with options of the command line, which is run as a `Scenario` is.

    Attributes
    ----------
    path : Path
    variant : str or None
        The variant of the package.
    options : dict of str to object
        For `CoSimulation.from_ssp`: ``step``, ``algorithm``, ``inputs``.
    isolation : Isolation
        Which FMUs run in separate processes.
    until : float
        s; known when it is coupled.
    findings : list of Problem
        Known then, too.
    """

    path: Path
    variant: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    isolation: Isolation = DECLARED
    until: float = 0.0
    findings: list[cosim.Problem] = field(default_factory=list)
    file: Path | None = None

    @staticmethod
    def fits(path: Path) -> bool:
        """Whether a path is that of an SSP, by its ending or as a folder of one."""
        return is_ssp(path)

    def couple(self, make: Callable[..., Coupled]) -> Coupled:
        """The coupling that `make`, a co-simulation, makes of it, checked.

        Raises
        ------
        ModelError
            Every fault, with file and line.
        """
        loop = couple_ssp(make, self.path, self.variant, isolation=self.isolation, **self.options)
        self.findings = list(loop.findings)
        self.until = loop.start if loop.until is None else loop.until
        return loop

    @property
    def remarks(self) -> list[str]:
        """Findings in lines, the first ones when there are many."""
        shown = [f"note: {finding}" for finding in self.findings[:MOST_FINDINGS]]
        more = len(self.findings) - len(shown)
        return [*shown, f"note: and {more} more like these"] if more > 0 else shown
