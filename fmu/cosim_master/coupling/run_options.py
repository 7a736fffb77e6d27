"""What a run of a co-simulation does unless told otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cosim
from cosim.kit import seconds
from cosim_master.coupling.wiring_problem import WiringProblem, either, problem

INSIDE = ("nothing", "events", "steps")
"""What may be recorded between the communication points."""


@dataclass(frozen=True)
class RunOptions:
    """What is recorded, and how long a run may take; of a scenario what its file says.

    Attributes
    ----------
    record : sequence of str or None
        Paths and patterns; None for outputs and what is connected.
    inside : str
        What is recorded between the communication points.
    interval : float, str or None
        Between two recorded communication points, s.
    decimation : int
        Each so many communication points one is recorded; what counts where there is no interval.
    time_limit : float or None
        Of wall time, s.
    """

    record: Sequence[str] | None = None
    inside: str = "events"
    interval: float | str | None = None
    decimation: int = 1
    time_limit: float | None = None

    def given(self, **options: Any) -> RunOptions:
        """The same with those options that are not None."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})

    def every(self, step: float) -> int:
        """How many communication steps (s) lie between two recorded points.

        Raises
        ------
        ModelError
            The interval is no multiple of the step.
        """
        if self.interval is None:
            return self.decimation
        interval = seconds(self.interval, "output.interval")
        multiple = interval / step
        if not 1.0 - 1e-9 <= multiple < 2.0**53 or abs(multiple - round(multiple)) > 1e-9 * multiple:
            text = f"is {interval:g} s, needs a multiple of the communication step, {step:g} s"
            raise cosim.ModelError([problem(("output", "interval"), text)])
        return round(multiple)

    def faults(self, step: float) -> list[WiringProblem]:
        """What is wrong with them, with this communication step (s)."""
        found = []
        if self.inside not in INSIDE:
            found.append(problem(("output", "inside"), f"is {self.inside!r}, needs {either(INSIDE)}"))
        try:
            self.every(step)
        except cosim.ModelError as error:
            found += [problem(("output", "interval"), fault.text) for fault in error.problems]
        return found
