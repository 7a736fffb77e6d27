"""How far to trust a co-simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import cosim
from cosim_master.results.estimated_error import EstimatedError

FINE = 0.01
"""Of the range of an output: an error up to that needs no remark."""


UNSTABLE = "unstable"
"""The verdict on a run whose values have exploded."""
REQUIRED = {"fine": ("fine",), "known": ("fine", "smaller step", "tighter tolerance", "other algorithm")}
"""What may be required of a verdict, and the verdicts that meet it."""
MOST_NAMES = 4
"""In a line."""


class CouplingError(cosim.CosimError):
    """The verdict on a coupling is not what was required."""


@dataclass(frozen=True)
class CouplingReport:
    """The errors that the coupling made in a run, and what to do about them.

    Attributes
    ----------
    connections : list of EstimatedError
        Of what is exchanged; the largest relative one first.
    energy : dict of str to float
        That the coupling created in each power bond, in the product of the units of its outputs times s.
    verdict : str
        "fine", "smaller step", "tighter tolerance", "other algorithm", "unknown" or "unstable".
    advice : str
        What to change, in a sentence; empty when it is fine.
    how : str
        How the errors were found out.
    signals : list of EstimatedError
        Of each real output that is exchanged or recorded, ends of chains and inner variables too; the largest
        relative one first.
    not_judged : list of str
        What is recorded and has no bar: whole numbers, truths and texts, or all where nothing is known.
    jumps : set of str
        Outputs that change at events alone: they are off by a jump where it comes an exchange late, and
        decide on the verdict only where there are no others.
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
        """The largest relative error of an output that does not only jump, if there is one."""
        smooth = [each for each in self.signals if each.name not in self.jumps]
        return next(iter(smooth or self.signals or self.connections), None)

    def __getitem__(self, name: str) -> EstimatedError:
        """Of a connection, or of an output that is exchanged or recorded, by its name."""
        errors = [*self.signals, *self.connections]
        for each in errors:
            if name in (each.name, each.name.replace("→", "->")):
                return each
        raise cosim.LookUpError("output or connection", name, [each.name for each in errors])

    def unknown(self, why: str) -> CouplingReport:
        """The same where the errors are not known, with the reason."""
        return replace(self, verdict="unknown", advice=why)

    def require(self, wanted: str) -> None:
        """Raise if the verdict is not "fine", or not "known".

        Raises
        ------
        CouplingError
            With the verdict and what to do.
        CosimError
            `wanted` is none of these words.
        """
        if wanted not in REQUIRED:
            raise cosim.CosimError(
                f"require: {wanted!r} is no verdict, needs {' or '.join(map(repr, REQUIRED))}"
            )
        if self.verdict not in REQUIRED[wanted]:
            raise CouplingError(
                f"the coupling is required to be {wanted}, and is not ({self.verdict}): {self}"
            )

    def __str__(self) -> str:
        """A line of figures; a second one where there is something to do."""
        created = max(self.energy.items(), key=lambda item: abs(item[1]), default=None)
        energy = "" if created is None else f"   energy created {created[1]:.2g} in {created[0]}"
        worst = self.worst
        left = self._left()
        if self.verdict in ("unknown", UNSTABLE) or worst is None:
            word = "coupling unstable" if self.verdict == UNSTABLE else "coupling error unknown"
            return (f"{word}: {self.advice}" if self.advice else "") + energy
        output, unit = worst.name.partition(" → ")[0], "" if worst.unit == "1" else f" {worst.unit}"
        part = f", {100.0 * worst.relative:.2g} % of its range" if worst.relative > 0.0 else ""
        line = f"coupling error {worst.error:.2g}{unit} ({self.how}, largest: {output}{part}){energy}"
        return "\n".join([line, *([f"{self.verdict}: {self.advice}"] if self.advice else []), *left])

    def _left(self) -> list[str]:
        """A line of what is not judged."""
        if not self.not_judged:
            return []
        shown, more = ", ".join(self.not_judged[:MOST_NAMES]), len(self.not_judged) - MOST_NAMES
        return [f"not judged: {shown}" + (f" and {more} more" if more > 0 else "")]

    def figures(self) -> dict[str, Any]:
        """Numbers and text alone, for files."""
        return {
            "verdict": self.verdict,
            "advice": self.advice,
            "how": self.how,
            "connections": {
                each.name: {
                    "error": each.error,
                    "scale": each.scale,
                    "unit": each.unit,
                    "defect": each.defect,
                }
                for each in self.connections
            },
            "signals": {
                each.name: {"error": each.error, "scale": each.scale, "unit": each.unit}
                for each in self.signals
            },
            "not_judged": list(self.not_judged),
            "energy": dict(self.energy),
        }
