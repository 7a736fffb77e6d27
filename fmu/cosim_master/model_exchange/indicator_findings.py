"""What a run has noticed about the event indicators of an FMU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

INDICATOR = "fmu.indicator_"
"""The name of a witness, before its number."""


def indicator_findings(findings: Sequence[Any], first: int = 0, count: float = math.inf) -> list[str]:
    """Those of a run about some of its event indicators, as sentences; these are counted from 1."""
    told = []
    for finding in findings:
        _, _, number = finding.witness.partition(INDICATOR)
        if number and 0 <= int(number) - first < count:
            told.append(
                f"event indicator {int(number) - first + 1}, at t = {finding.time:.9g} s: {finding.message}"
            )
    return told
