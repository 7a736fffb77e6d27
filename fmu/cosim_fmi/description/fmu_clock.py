"""A clock of an FMU for FMI 3.0, as its model description has it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

PERIODIC = ("constant", "fixed", "calculated", "tunable")
ASKED = ("calculated", "tunable", "changing", "countdown")
"""Whose interval the FMU itself tells."""


@dataclass(frozen=True)
class FmuClock:
    """Facts of a clock.

    Attributes
    ----------
    reference : int
        Value reference.
    causality : str
        "input": activated by the environment; "output": by the FMU.
    variability : str
        Of its interval: "constant", "fixed", "calculated", "tunable", "changing", "countdown" or "triggered".
    interval, shift : Fraction or float
        Of a periodic clock, s, exactly as counter and resolution or the decimal have it; NaN when it is not
        told.
    has_fractions : bool
        Whether the FMU tells its interval as a counter and a resolution.
    """

    reference: int
    causality: str
    variability: str
    interval: Fraction | float = math.nan
    shift: Fraction | float = Fraction(0)
    has_fractions: bool = False

    @classmethod
    def of(cls, attributes: Mapping[str, str]) -> FmuClock:
        """From the attributes of its element; ``ValueError`` when they make no sense.

        Examples
        --------
        >>> FmuClock.of({"valueReference": "7", "causality": "input", "intervalVariability": "constant",
        ...               "intervalCounter": "3", "resolution": "1000"}).interval
        Fraction(3, 1000)
        """
        interval: Fraction | float = math.nan
        shift = _decimal(attributes.get("shiftDecimal", "0"))
        resolution = int(attributes.get("resolution", 0))
        if resolution < 0 or (resolution == 0 and "resolution" in attributes):
            raise ValueError(f"its resolution is {resolution}, needs more than 0")
        if "intervalCounter" in attributes and resolution:
            interval = Fraction(int(attributes["intervalCounter"]), resolution)
        elif "intervalDecimal" in attributes:
            interval = _decimal(attributes["intervalDecimal"])
        if "shiftCounter" in attributes and resolution:
            shift = Fraction(int(attributes["shiftCounter"]), resolution)
        return cls(
            int(attributes["valueReference"]),
            attributes.get("causality", "local"),
            attributes.get("intervalVariability", "triggered"),
            interval,
            shift,
            attributes.get("supportsFraction") in ("true", "1"),
        )

    @property
    def ticks_by_time(self) -> bool:
        """Whether the environment activates it at instants that follow from an interval."""
        return self.causality == "input" and self.variability != "triggered"

    @property
    def refusal(self) -> str:
        """Why it cannot be run, "" when it can."""
        if not self.ticks_by_time or self.variability in ASKED:
            return ""
        if math.isnan(self.interval):
            return f"its interval is {self.variability}, and the model description does not tell it"
        if not self.interval > 0.0 or math.isinf(self.interval):
            return f"its interval is {float(self.interval):g} s, needs more than 0"
        return ""


def _decimal(text: str) -> Fraction | float:
    """The number that a decimal says; a float where it is none that is finite."""
    number = float(text)
    return Fraction(text.strip()) if math.isfinite(number) else number
