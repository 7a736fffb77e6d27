"""How far to trust a co-simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cosim
from cosim_master.results.estimated_error import EstimatedError

FINE = 0.01
"""Of the range of an output: an error up to that needs no remark."""


@dataclass(frozen=True)
class CouplingReport:
    """The errors that the coupling made in a run, and what to do about them.

    Attributes
    ----------
    connections : list of EstimatedError
        The largest relative one first.
    energy : dict of str to float
        That the coupling created in each power bond, in the product of the units of its outputs times s.
    verdict : str
        "fine", "smaller step", "tighter tolerance", "other algorithm" or "unknown".
    advice : str
        What to change, in a sentence; empty when it is fine.
    how : str
        How the errors were found out.
    """

    connections: list[EstimatedError]
    energy: Mapping[str, float] = field(default_factory=dict)
    verdict: str = "fine"
    advice: str = ""
    how: str = "estimated"

    @property
    def worst(self) -> EstimatedError | None:
        """The largest relative error."""
        return self.connections[0] if self.connections else None

    def __getitem__(self, name: str) -> EstimatedError:
        """Of a connection, by its name or by that of its output."""
        for each in self.connections:
            if name in (each.name, each.name.partition(" → ")[0], each.name.replace("→", "->")):
                return each
        raise cosim.LookUpError("connection", name, [each.name for each in self.connections])

    def __str__(self) -> str:
        """A line of figures; a second one where there is something to do."""
        created = max(self.energy.items(), key=lambda item: abs(item[1]), default=None)
        energy = "" if created is None else f"   energy created {created[1]:.2g} in {created[0]}"
        worst = self.worst
        if self.verdict == "unknown" or worst is None:
            return (f"coupling error unknown: {self.advice}" if self.advice else "") + energy
        output, unit = worst.name.partition(" → ")[0], "" if worst.unit == "1" else f" {worst.unit}"
        part = f", {100.0 * worst.relative:.2g} % of its range" if worst.relative > 0.0 else ""
        line = f"coupling error {worst.error:.2g}{unit} ({self.how}, largest: {output}{part}){energy}"
        return f"{line}\n{self.verdict}: {self.advice}" if self.advice else line

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
            "energy": dict(self.energy),
        }
