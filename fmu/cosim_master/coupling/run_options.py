"""What a run records, and how long it may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cosim
from cosim.kit import read_seconds
from cosim_master.coupling.errors import WiringProblem, either, problem

INSIDE = ("nothing", "events", "steps")
"""The kinds of points between communication points that a run can record."""


@dataclass(frozen=True)
class RunOptions:
    """What is recorded, and how long a run may take; of a scenario what its file says.

    Attributes
    ----------
    record : sequence of str or None
        Paths and patterns; None for outputs and what is connected.
    inside : str
        The values that are recorded between the communication points.
    interval : float, str or None
        Between two recorded communication points, s.
    decimation : int
        Each so many communication points one is recorded; what counts where there is no interval.
    time_limit : float or None
        The limit of wall time, s.
    """

    record: Sequence[str] | None = None
    inside: str = "events"
    interval: float | str | None = None
    decimation: int = 1
    time_limit: float | None = None

    def given(self, **options: Any) -> RunOptions:
        """These options, replaced by those that are not None."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})

    def every(self, step: float) -> int:
        """How many communication steps (s) lie between two recorded points.

        Raises
        ------
        ModelError
            The interval is not a multiple of the step.
        """
        if self.interval is None:
            return self.decimation
        interval = read_seconds(self.interval, "output.interval")
        multiple = interval / step
        if not 1.0 - 1e-9 <= multiple < 2.0**53 or abs(multiple - round(multiple)) > 1e-9 * multiple:
            text = f"is {interval:g} s, needs a multiple of the communication step, {step:g} s"
            raise cosim.ModelError([problem(("output", "interval"), text)])
        return round(multiple)

    def faults(self, step: float) -> list[WiringProblem]:
        """The problems of these options with a communication step (s)."""
        problems = []
        if self.inside not in INSIDE:
            problems.append(problem(("output", "inside"), f"is {self.inside!r}, needs {either(INSIDE)}"))
        try:
            self.every(step)
        except cosim.ModelError as error:
            problems += [problem(("output", "interval"), fault.text) for fault in error.problems]
        return problems
