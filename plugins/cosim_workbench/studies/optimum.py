"""The outcome of an optimization."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FixedAttributes, check_ending, replaced_file
from cosim_workbench.wording import counted

AT_BOUND = 1e-3
"""A value that is closer than this part of the range to an end is at the end."""


class Optimum(FixedAttributes):
    """The best point, and all points that were tried.

    Attributes
    ----------
    values : dict of str to float
        The values of the best point, in SI units.
    objective : str
    best : float
        The objective there.
    units : dict of str to str
        The units of the objective and of the variables.
    points : ndarray, shape (runs, variables)
        In the order in which they were tried.
    objectives : ndarray, shape (runs,)
        NaN where a run failed.
    failed : int
        The number of runs that failed.
    at_bounds : list of str
        Variables that lie at an end of their range.
    message : str
        How the search has ended.
    no_gradient : str
        Why the search went on without gradients; empty where it had some.
    """

    def __init__(
        self,
        owner: Any,
        points: NDArray[np.float64],
        values: NDArray[np.float64],
        message: str,
        no_gradient: str,
    ) -> None:
        self._subject, self.message, self.no_gradient = owner.subject, message, no_gradient
        self.objective, self.units = owner.objective, dict(owner.units)
        self.points = points
        self.objectives = np.where(np.isfinite(values), owner.sign * values, np.nan)
        self.failed = int(np.isnan(self.objectives).sum())
        least = int(np.argmin(values))
        self.best = float(self.objectives[least])
        self.values = dict(zip(owner.bounds, points[least].tolist(), strict=True))
        self.at_bounds = [
            path
            for path, (low, high) in owner.bounds.items()
            if min(self.values[path] - low, high - self.values[path]) < AT_BOUND * (high - low)
        ]

    def __str__(self) -> str:
        width = max(map(len, (*self.values, self.objective)))
        lines = []
        for path, value in (*self.values.items(), (self.objective, self.best)):
            unit = "" if self.units[path] == "1" else f" {self.units[path]}"
            end = "   at an end of its range" if path in self.at_bounds else ""
            lines.append(f"{path:<{width}}  {value:.6g}{unit}{end}")
        gradients = (
            f"without gradients: {self.no_gradient}" if self.no_gradient else "along gradients of the runs"
        )
        lines.append(gradients)
        failed = f", {self.failed} failed" if self.failed else ""
        lines.append(f"{counted(len(self.points), 'run')}{failed}; {self.message}")
        return "\n".join(lines)

    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Write a line for each run: the point, the objective."""
        target = Path(path)
        check_ending(target, ".csv")
        names = [*self.values, self.objective]
        with replaced_file(target) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
            file.write(",".join(f'"{name}"' for name in names) + "\n")
            for point, value in zip(self.points.tolist(), self.objectives.tolist(), strict=True):
                file.write(",".join(map(repr, [*point, value])) + "\n")
        return target

    def apply(self) -> None:
        """Make the best point the start values of the model, or of the co-simulation.

        Raises
        ------
        CosimError
            It was read from a file: write them there.
        """
        if not hasattr(self._subject, "set_start"):
            raise cosim.CosimError(f"{self._subject} is a file: write the values there, under the parameters")
        for path, value in self.values.items():
            self._subject.set_start(path, value)
