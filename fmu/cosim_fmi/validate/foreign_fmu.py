"""The library of an FMU that is looked at."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from cosim_fmi.binding import logs
from cosim_fmi.binding.new_instance import open_library

NUMBERS = ("Real", "Integer", "Enumeration", "Boolean")
STEPS = 20
"""Communication steps of a run."""


class ForeignFmu:
    """A library, and what its model description says.

    Parameters
    ----------
    job : dict
        As `FmuProbe` writes it: paths, capabilities, the variables as dictionaries of text.

    Raises
    ------
    FmiError
        The library cannot be loaded, or is none of an FMU.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.steps = job, job["interface"] == "CoSimulation"
        logs.format_with(job["log_helper"])
        self.library = open_library(Path(job["library"]), job["version"], job["identifier"], job["interface"])
        self.variables: list[dict[str, Any]] = job["variables"]
        self.start, self.step = job["start"], job["step"]
        self.stop = self.start + STEPS * self.step

    def has(self, function: str) -> bool:
        """Whether the library exports a function, named without its prefix."""
        return self.library.has(function)

    def of(self, *causalities: str, kind: str = "") -> list[dict[str, Any]]:
        """The variables of some causalities, and of one type."""
        chosen = [v for v in self.variables if v["causality"] in causalities]
        return [v for v in chosen if v["type"] == kind] if kind else chosen

    @property
    def driven(self) -> list[dict[str, Any]]:
        """The inputs that are changed from step to step: real ones that need no event mode."""
        free = self.job["version"] != "3.0" and self.steps
        inputs = [v for v in self.of("input", kind="Real") if v["size"] == 1]
        return [v for v in inputs if free or v["variability"] != "discrete"]

    @functools.cached_property
    def seen(self) -> list[dict[str, Any]]:
        """What is compared, in the order in which it is read: by type; arrays by element."""
        shown = [v for v in self.of("output", "local") if v["type"] in NUMBERS][:2000]
        return [
            {**v, "name": f"{v['name']}[{i}]" if v["size"] > 1 else v["name"]}
            for v in sorted(shown, key=lambda v: (NUMBERS.index(v["type"]), v["access"]))
            for i in range(v["size"])
        ]
