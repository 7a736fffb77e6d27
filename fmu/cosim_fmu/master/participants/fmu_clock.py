"""A clock of an FMU for FMI 3.0, as its model description has it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

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
    interval, shift : float
        Of a periodic clock, s; NaN when it is not told.
    """

    reference: int
    causality: str
    variability: str
    interval: float = math.nan
    shift: float = 0.0

    @classmethod
    def of(cls, attributes: Mapping[str, str]) -> FmuClock:
        """From the attributes of its element; ``ValueError`` when they make no sense.

        Examples
        --------
        >>> FmuClock.of({"valueReference": "7", "causality": "input", "intervalVariability": "constant",
        ...               "intervalCounter": "3", "resolution": "1000"}).interval
        0.003
        """
        interval, shift = math.nan, float(attributes.get("shiftDecimal", 0.0))
        if "intervalDecimal" in attributes:
            interval = float(attributes["intervalDecimal"])
        elif "intervalCounter" in attributes and "resolution" in attributes:
            interval = int(attributes["intervalCounter"]) / int(attributes["resolution"])
        if "shiftCounter" in attributes and "resolution" in attributes:
            shift = int(attributes["shiftCounter"]) / int(attributes["resolution"])
        return cls(
            int(attributes["valueReference"]),
            attributes.get("causality", "local"),
            attributes.get("intervalVariability", "triggered"),
            interval,
            shift,
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
            return f"its interval is {self.interval:g} s, needs more than 0"
        return ""
