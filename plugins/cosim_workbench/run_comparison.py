"""How far runs of one model agree, signal by signal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cosim import EventCause, Result
from cosim.kit import Verification

Reals = NDArray[np.float64]
SMALL = 1e-3  # of the largest signal of the same unit: below it, a signal is judged by that
MOST_DIGITS = 15.0
ODD = 1.0  # digits that the other runs must gain without the odd one
RESIDUAL = "energy.residual"  # an error itself: it is compared on the scale of the energies
SLACK = 2.0  # digits; local errors add up, so an accuracy of 1e-8 promises six digits of a signal


@dataclass(frozen=True)
class VerifiedRun:
    """One of the runs that are compared.

    Attributes
    ----------
    name : str
        What is different in it: "as given", "tenth of the tolerance" …
    method : str
        Integrator, accuracy and solver.
    result : Result
        What it recorded; up to where it failed, when it did.
    failure : str
        Why it failed; empty when it did not.
    """

    name: str
    method: str
    result: Result
    failure: str = ""

    @property
    def events(self) -> int:
        """How many events it had that do not belong to each step."""
        return sum(event.cause is not EventCause.TIME_ADVANCED for event in self.result.events)


@dataclass(frozen=True)
class Agreement:
    """How far all runs agree about one signal.

    Attributes
    ----------
    signal : str
    digits : float
        ``-log10`` of the largest difference of two runs at one time over the largest value of the signal
        (over a thousandth of that of the largest signal of the same unit, where that is more); 0 to 15.
    odd : str
        Name of the run without which the others agree to more digits; empty when there is none.
    digits_without : float
        To how many then.
    """

    signal: str
    digits: float
    odd: str = ""
    digits_without: float = math.nan


class RunComparison(Verification):
    """A run beside others of the same model that ought to be the same.

    Parameters
    ----------
    runs : sequence of VerifiedRun
        The one that was asked for first.
    accuracy : float
        Of that run.
    grid : array_like, s
        Times at which they are compared, after the events of that instant.
    set_aside : sequence of VerifiedRun
        Runs that are not compared: the same with a smaller tolerance is among `runs`, and agrees with them.
    """

    def __init__(
        self,
        runs: Sequence[VerifiedRun],
        accuracy: float,
        grid: Reals,
        set_aside: Sequence[VerifiedRun] = (),
    ) -> None:
        self.runs, self.set_aside = list(runs), list(set_aside)
        self.expected = max(1.0, -math.log10(accuracy) - SLACK)
        compared = [run for run in self.runs if not run.failure]
        tables = [_at(run.result, grid) for run in compared]
        self.agreements: list[Agreement] = []
        if len(tables) > 1:
            units = {name: compared[0].result.unit(name) for name in tables[0]}
            largest: dict[str, float] = {}
            for name, unit in units.items():
                largest[unit] = max(largest.get(unit, 0.0), *(_size(table[name]) for table in tables))
            for name, unit in units.items():
                names = [run.name for run in compared]
                values = [table[name] for table in tables]
                smallest = largest[unit] * (1.0 if name == RESIDUAL else SMALL)
                self.agreements.append(_agreement(name, names, values, smallest))

    @property
    def doubtful(self) -> list[Agreement]:
        return [agreement for agreement in self.agreements if agreement.digits < self.expected]

    @property
    def is_confirmed(self) -> bool:
        counts = {run.events for run in self.runs}
        failed = any(run.failure for run in self.runs)
        return bool(self.agreements) and not failed and not self.doubtful and len(counts) == 1

    def __str__(self) -> str:
        width = max(len(run.name) for run in [*self.runs, *self.set_aside])
        lines = []
        for run in self.runs:
            said = f"failed: {run.failure}" if run.failure else f"{run.events} events"
            lines.append(f"{run.name:<{width}}  {run.method}, {said}")
        for run in self.set_aside:
            lines.append(f"{run.name:<{width}}  {run.method}, set aside: with a smaller tolerance it agrees")
        width = max([len(a.signal) for a in self.agreements], default=0)
        lines += ["", f"{'signal':<{width}}  digits that agree"]
        for agreement in self.agreements:
            line = f"{agreement.signal:<{width}}  {agreement.digits:4.1f}"
            if agreement.odd:
                line += f"  ({agreement.digits_without:.1f} without: {agreement.odd})"
            lines.append(line)
        lines += ["", self.verdict]
        return "\n".join(lines)

    @property
    def verdict(self) -> str:
        if self.is_confirmed:
            least = min(agreement.digits for agreement in self.agreements)
            return f"All signals agree to {least:.1f} digits at least."
        failed = [run.name for run in self.runs if run.failure]
        if failed:
            return f"Not confirmed: {', '.join(failed)} failed."
        if self.doubtful:
            odd = {a.odd for a in self.doubtful} - {""}
            who = f"; the odd one out is: {', '.join(sorted(odd))}" if odd else ""
            some = f"{len(self.doubtful)} of {len(self.agreements)} signals"
            return f"Not confirmed: {some} agree to fewer than {self.expected:.1f} digits{who}."
        return "Not confirmed: the runs have different numbers of events."


def _at(result: Result, grid: Reals) -> dict[str, Reals]:
    """The columns of a result at these times, after the events of each; NaN where it has none."""
    rows = np.searchsorted(result.time, grid, side="right") - 1
    known = (rows >= 0) & (result.time[np.maximum(rows, 0)] == grid)
    return {name: np.where(known, values[rows], np.nan) for name, values in result.numbers().items()}


def _size(values: Reals) -> float:
    finite = values[np.isfinite(values)]
    return float(np.abs(finite).max(initial=0.0))


def _agreement(name: str, runs: Sequence[str], values: Sequence[Reals], smallest: float) -> Agreement:
    scale = max(smallest, *(_size(v) for v in values))
    pairs = combinations(range(len(runs)), 2)
    digits = {(i, j): _digits(values[i], values[j], scale) for i, j in pairs}
    least = min(digits.values())
    if len(runs) < 3:
        return Agreement(name, least)
    without = [min(d for pair, d in digits.items() if i not in pair) for i in range(len(runs))]
    odd = int(np.argmax(without))
    if without[odd] < least + ODD:
        return Agreement(name, least)
    return Agreement(name, least, runs[odd], without[odd])


def _digits(one: Reals, other: Reals, scale: float) -> float:
    """Digits to which two columns agree."""
    missing = np.isnan(one) != np.isnan(other)
    if missing.any():
        return 0.0
    with np.errstate(invalid="ignore"):
        apart = np.where(one == other, 0.0, np.abs(one - other))
    worst = float(np.nanmax(apart, initial=0.0))
    if worst == 0.0 or scale == 0.0:
        return MOST_DIGITS
    return min(max(-math.log10(worst / scale), 0.0), MOST_DIGITS)
