"""When a run of a coupling exchanges values, what it records, and how long it may take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import (
    DefaultExperiment,
    ParticipantDescription,
    common_resolution,
    rational_time,
    read_seconds,
    shortest_interval,
    tick_time,
)
from cosim_master.coupling.errors import WiringProblem, either, problem

EXACT = 2.0**53
"""Smaller integers are exact as real numbers."""
ROUNDING = 1e-9
"""Part of a step below which a difference is a rounding error."""
DEFAULT_STEP_COUNT = 1000
"""Steps of a default experiment that declares no step."""
DEFAULT_STEP = 1e-3
"""s, where nothing declares a step or an end."""
INSIDE = ("nothing", "events", "steps")
"""The kinds of points between communication points that a run can record."""


@dataclass(frozen=True)
class CommunicationPoints:
    """The points ``start + i * step``, the last one clipped to `until`.

    Start and step are rational numbers (0.3 is 3/10, as for ``cosim.every``), and every point is the double
    nearest to ``start + i * step``: points and ticks that meet on paper are one time. A last step that would
    be shorter than a billionth of `step` is rounding and is not made, unless it is the only one.

    Parameters
    ----------
    start : float
        s.
    until : float
        s, at least `start`.
    step : float
        s, greater than 0.

    Raises
    ------
    ModelError
        When these numbers make no sense, or more steps than can be counted exactly.

    Examples
    --------
    >>> points = CommunicationPoints(0.0, 1.0, 0.3)
    >>> points.count, [points.time(i) for i in range(points.count + 1)]
    (4, [0.0, 0.3, 0.6, 0.9, 1.0])
    """

    start: float
    until: float
    step: float

    def __post_init__(self) -> None:
        problems = []
        if not (math.isfinite(self.step) and self.step > 0.0):
            problems.append(
                cosim.Problem("step", f"is {self.step!r} s, needs a finite number greater than 0")
            )
        if not math.isfinite(self.start):
            problems.append(cosim.Problem("start", f"is {self.start!r} s, needs a finite number"))
        if not (math.isfinite(self.until) and self.until >= self.start):
            text = f"is {self.until!r} s, needs a finite number, at least the start ({self.start:g} s)"
            problems.append(cosim.Problem("until", text))
        if not problems and (text := self._resolution_fault()):
            problems.append(cosim.Problem("step", text))
        if problems:
            raise cosim.ModelError(problems)

    def _resolution_fault(self) -> str:
        """Why the points cannot be counted exactly, or told apart; "" if they can."""
        shortest = shortest_interval(self.start, self.until)
        if not (self.until - self.start) / self.step < EXACT:
            return f"is {self.step!r} s: too small for {self.until:g} s"
        if self.step < min(shortest, self.until - self.start):
            return (
                f"is {self.step!r} s, where times up to {self.until:g} s cannot tell points closer than "
                f"{shortest:g} s apart: give more, or start nearer to 0 s"
            )
        if not self.grid[-1]:
            return (
                f"is {self.step!r} s, which cannot be counted from {self.start!r} s on in one resolution of "
                "64 bits: give times with fewer decimals"
            )
        return ""

    @cached_property
    def grid(self) -> NDArray[np.int64]:
        """Start and step as the integers that `tick_time` needs; zeros if no common resolution fits.

        Returns
        -------
        ndarray, shape (5,)
            Whole seconds of the start, and the rest in parts of a second; the same of the step; the number of
            parts in a second.
        """
        start_seconds, start_rest, start_parts = rational_time(self.start)
        step_seconds, step_rest, step_parts = rational_time(self.step)
        parts = common_resolution(start_parts, step_parts) if start_parts and step_parts else 0
        if not parts:
            return np.zeros(5, dtype=np.int64)
        start_rest, step_rest = start_rest * (parts // start_parts), step_rest * (parts // step_parts)
        return np.array((start_seconds, start_rest, step_seconds, step_rest, parts), dtype=np.int64)

    @cached_property
    def count(self) -> int:
        """Number of steps."""
        exact = (self.until - self.start) / self.step
        nearest = max(round(exact), 1 if exact > 0.0 else 0)
        return nearest if abs(exact - nearest) <= ROUNDING + 1e-15 * exact else math.ceil(exact)

    def time(self, index: int) -> float:
        """The communication point `index`, s; index `count` is exactly `until`."""
        return tick_time(index, *self.grid.tolist()) if index < self.count else self.until

    def times(self, first: int, last: int) -> NDArray[np.float64]:
        """The communication points `first` … `last` - 1, the same numbers as `time` gives.

        Returns
        -------
        ndarray, shape (last - first,), s
        """
        start_seconds, start_rest, step_seconds, step_rest, parts = self.grid.tolist()
        start, step = start_seconds * parts + start_rest, step_seconds * parts + step_rest
        if (
            parts < EXACT and abs(start) + max(last, 1) * step < EXACT
        ):  # then the quotients are exactly rounded
            points = (start + step * np.arange(first, last)) / float(parts)
        else:
            points = np.array([tick_time(i, *self.grid.tolist()) for i in range(first, last)])
        if first <= self.count < last:
            points[self.count - first :] = self.until
        return points


def only_experiment(descriptions: Mapping[str, ParticipantDescription]) -> DefaultExperiment:
    """The default experiment of the only participant; an empty one if there are several.

    Participants that give values over time do not count.
    """
    experiments = [
        d.default_experiment
        for d in descriptions.values()
        if d.default_experiment.count(None) < 4 and not d.over_time
    ]
    simulated = [d for d in descriptions.values() if not d.over_time]
    return experiments[0] if len(experiments) == 1 == len(simulated) else DefaultExperiment()


def step_of(experiment: DefaultExperiment) -> float:
    """The communication step, s."""
    if experiment.step is not None:
        return experiment.step
    if experiment.stop is None:
        return DEFAULT_STEP
    return (experiment.stop - (experiment.start or 0.0)) / DEFAULT_STEP_COUNT


@dataclass(frozen=True)
class RunOptions:
    """What is recorded, and how long a run may take.

    Attributes
    ----------
    record : sequence of str or None
        Paths and patterns; None for outputs and connected variables.
    inside : str
        The values that are recorded between the communication points.
    interval : float, str or None
        Between two recorded communication points, s.
    decimation : int
        One of so many communication points is recorded, unless there is an interval.
    time_limit : float or None
        The limit of wall time, s.
    """

    record: Sequence[str] | None = None
    inside: str = "events"
    interval: float | str | None = None
    decimation: int = 1
    time_limit: float | None = None

    def replaced_by(self, **options: Any) -> RunOptions:
        """These options, replaced by those that are not None."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})

    def steps_between_rows(self, step: float) -> int:
        """The number of communication steps (s) between two recorded points.

        Raises
        ------
        ModelError
            The interval is not a multiple of the step.
        """
        if self.interval is None:
            return self.decimation
        interval = read_seconds(self.interval, "output.interval")
        multiple = interval / step
        if not 1.0 - ROUNDING <= multiple < EXACT or abs(multiple - round(multiple)) > ROUNDING * multiple:
            text = f"is {interval:g} s, needs a multiple of the communication step, {step:g} s"
            raise cosim.ModelError([problem(("output", "interval"), text)])
        return round(multiple)

    def faults(self, step: float) -> list[WiringProblem]:
        """The problems of these options with a communication step (s)."""
        problems = []
        if self.inside not in INSIDE:
            problems.append(problem(("output", "inside"), f"is {self.inside!r}, needs {either(INSIDE)}"))
        try:
            self.steps_between_rows(step)
        except cosim.ModelError as error:
            problems += [problem(("output", "interval"), fault.text) for fault in error.problems]
        return problems
