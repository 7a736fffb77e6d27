"""The estimated error of one output."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EstimatedError:
    """What the coupling did to an output, or to a connection that it feeds.

    Attributes
    ----------
    name : str
        ``participant.output``, or ``source.output → target.input``.
    error : float
        Bar of the largest error of the output over the run, in its unit.
    scale : float
        Range of the output over the run, in its unit.
    unit : str
        Of the output.
    defect : float
        Of a connection: mean size of what the input was given beyond the output, in its unit.
    """

    name: str
    error: float
    scale: float
    unit: str
    defect: float = 0.0

    @property
    def relative(self) -> float:
        """Error over range; 0 where there is no error."""
        return self.error / self.scale if self.error > 0.0 else 0.0

    def __str__(self) -> str:
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{self.name}: {self.error:.2g}{unit}"
