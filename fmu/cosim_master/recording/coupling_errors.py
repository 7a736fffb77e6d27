"""The estimated errors of a coupling, and the verdict on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import cosim

FINE = 0.01
"""Errors up to this part of an output's range need no remark."""
UNSTABLE = "unstable"
"""The verdict on a run whose values have exploded."""
REQUIRED = {"fine": ("fine",), "known": ("fine", "smaller step", "tighter tolerance", "other algorithm")}
"""The verdicts that meet each requirement."""
MOST_NAMES = 4
"""Names in a line."""


@dataclass(frozen=True)
class EstimatedError:
    """The estimated error of an output, or of a connection that it feeds.

    Attributes
    ----------
    name : str
        ``participant.output``, or ``source.output → target.input``.
    error : float
        The bound of the largest error of the output over the run, in its unit.
    scale : float
        Range of the output over the run, in its unit.
    unit : str
        The unit of the output.
    defect : float
        Of a connection: the mean absolute difference between the input and the output, in its unit.
    """

    name: str
    error: float
    scale: float
    unit: str
    defect: float = 0.0

    @property
    def relative(self) -> float:
        """Error over range; 0 without an error, infinite if an output with an error has no range."""
        if not self.error > 0.0:
            return 0.0
        return self.error / self.scale if self.scale > 0.0 else math.inf

    def __str__(self) -> str:
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{self.name}: {self.error:.2g}{unit}"


class CouplingError(cosim.CosimError):
    """The verdict on a coupling is not what was required."""


@dataclass(frozen=True)
class CouplingReport:
    """The errors that the coupling made in a run, and what to do about them.

    Attributes
    ----------
    connections : list of EstimatedError
        The errors of exchanged values; the largest relative one first.
    energy : dict of str to float
        The energy that the coupling created in each power bond, in the product of its outputs' units times s.
    verdict : str
        "fine", "smaller step", "tighter tolerance", "other algorithm", "unknown" or "unstable".
    advice : str
        The proposed change, in a sentence; empty for the verdict "fine".
    how : str
        How the errors were determined.
    signals : list of EstimatedError
        The errors of all real outputs that are exchanged or recorded, and of recorded inner variables; the
        largest relative one first.
    not_judged : list of str
        Recorded variables without an error: integers, booleans and texts, or all if no error is known.
    jumps : set of str
        Outputs that change at events alone. Their error is a whole jump when it comes one exchange late, so
        they decide on the verdict only if there are no other outputs.
    """

    connections: list[EstimatedError]
    energy: Mapping[str, float] = field(default_factory=dict)
    verdict: str = "fine"
    advice: str = ""
    how: str = "estimated"
    signals: list[EstimatedError] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)
    jumps: set[str] = field(default_factory=set)

    @property
    def worst(self) -> EstimatedError | None:
        """The largest relative error of an output, of those that do not only jump if there are any."""
        smooth = [signal for signal in self.signals if signal.name not in self.jumps]
        return next(iter(smooth or self.signals or self.connections), None)

    def __getitem__(self, name: str) -> EstimatedError:
        """The error of a connection, or of an output that is exchanged or recorded, by its name."""
        errors = [*self.signals, *self.connections]
        for error in errors:
            if name in (error.name, error.name.replace("→", "->")):
                return error
        raise cosim.LookUpError("output or connection", name, [error.name for error in errors])

    def unknown(self, reason: str) -> CouplingReport:
        """The report with unknown errors, and the reason."""
        return replace(self, verdict="unknown", advice=reason)

    def require(self, requirement: str) -> None:
        """Raise if the verdict is not "fine", or not "known".

        Raises
        ------
        CouplingError
            With the verdict and what to do.
        CosimError
            `requirement` is neither of them.
        """
        if requirement not in REQUIRED:
            raise cosim.CosimError(
                f"require: {requirement!r} is not a verdict, needs {' or '.join(map(repr, REQUIRED))}"
            )
        if self.verdict not in REQUIRED[requirement]:
            raise CouplingError(
                f"the verdict on the coupling is {self.verdict!r}, and {requirement!r} is required: {self}"
            )

    def __str__(self) -> str:
        """A line of figures, one with advice if there is any, one of variables without an error."""
        energy = ""
        if self.energy:
            bond, created = max(self.energy.items(), key=lambda item: abs(item[1]))
            energy = f"   energy created {created:.2g} in {bond}"
        worst = self.worst
        if self.verdict in ("unknown", UNSTABLE) or worst is None:
            word = "coupling unstable" if self.verdict == UNSTABLE else "coupling error unknown"
            return (f"{word}: {self.advice}" if self.advice else "") + energy
        output, unit = worst.name.partition(" → ")[0], "" if worst.unit == "1" else f" {worst.unit}"
        part = f", {100.0 * worst.relative:.2g} % of its range" if worst.relative > 0.0 else ""
        line = f"coupling error {worst.error:.2g}{unit} ({self.how}, largest: {output}{part}){energy}"
        return "\n".join(
            [line, *([f"{self.verdict}: {self.advice}"] if self.advice else []), *self._unjudged()]
        )

    def _unjudged(self) -> list[str]:
        """A line of the variables without an error, if there are any."""
        if not self.not_judged:
            return []
        shown, hidden_count = ", ".join(self.not_judged[:MOST_NAMES]), len(self.not_judged) - MOST_NAMES
        return [f"not judged: {shown}" + (f" and {hidden_count} more" if hidden_count > 0 else "")]

    def figures(self) -> dict[str, Any]:
        """Numbers and text alone, for files."""
        return {
            "verdict": self.verdict,
            "advice": self.advice,
            "how": self.how,
            "connections": {
                connection.name: {
                    "error": connection.error,
                    "scale": connection.scale,
                    "unit": connection.unit,
                    "defect": connection.defect,
                }
                for connection in self.connections
            },
            "signals": {
                signal.name: {"error": signal.error, "scale": signal.scale, "unit": signal.unit}
                for signal in self.signals
            },
            "not_judged": list(self.not_judged),
            "energy": dict(self.energy),
        }
