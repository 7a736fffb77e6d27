"""Tolerances of the participants' own integrators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim_fmu.master.wiring.wiring_problem import WiringProblem, problem


def check_tolerances(
    participants: Mapping[str, Any], common: Any, given: Mapping[str, Any]
) -> tuple[dict[str, float | None], list[WiringProblem]]:
    """The tolerance of each participant, None where it takes its own, and what is wrong."""
    found: dict[str, float | None] = {}
    problems = []
    if common is not None and not _is_tolerance(common):
        problems.append(
            problem(("master", "tolerance"), f"is {common!r}, needs a number greater than 0: 1e-6")
        )
        common = None
    for name in given:
        if name not in participants:
            text = str(cosim.LookUpError("participant", name, participants))
            problems.append(problem(("participants", name), text))
    for name in participants:
        own = given.get(name, common)
        if own is not None and not _is_tolerance(own):
            text = f"is {own!r}, needs a number greater than 0: 1e-6"
            problems.append(problem(("participants", name, "tolerance"), text))
            own = None
        found[name] = None if own is None else float(own)
    return found, problems


def _is_tolerance(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 < value < float("inf")
