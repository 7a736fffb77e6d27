"""One scalar variable of an exported FMU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FmuVariable:
    """A scalar that the model description declares, and where it lies in the State.

    Attributes
    ----------
    name : str
        Structured name; elements count from 1: ``strut_left.stiffness[4]``.
    path : str
        What the system calls it; elements count from 0: ``strut_left.stiffness[3]``.
    array : str
        "y", "p", "d", "k" or "c": the State's array that a value is read from.
    offset : int
        Place in that array.
    stage : int
        The stage that the State has to be realized to before a value is read.
    type : str
        "Real" or "Integer".
    causality : str
        "input", "output", "parameter" or "local".
    variability : str
        "continuous", "discrete" or "tunable".
    initial : str
        "exact" or "calculated"; empty for inputs, for which the standard fixes it.
    unit : str
        Modelica unit expression; "1" for none.
    start : float, int or None
    minimum, maximum : float or None
    description : str
    feedthrough : tuple of str
        Names of the inputs that it depends on at the same instant (of outputs only).
    """

    name: str
    path: str
    array: str
    offset: int
    stage: int
    type: str
    causality: str
    variability: str
    initial: str
    unit: str = "1"
    start: float | int | None = None
    minimum: float | None = None
    maximum: float | None = None
    description: str = ""
    feedthrough: tuple[str, ...] = ()

    @property
    def is_settable(self) -> bool:
        """Whether the FMU takes a value for it at some time."""
        return self.causality in ("input", "parameter") or self.initial == "exact"

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> FmuVariable:
        """The variable that a row of the interface's JSON describes."""
        return cls(**{**row, "feedthrough": tuple(row["feedthrough"])})
