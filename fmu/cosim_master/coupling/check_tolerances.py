"""Tolerances of the participants' own integrators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim.kit import accuracy_fault
from cosim_master.coupling.wiring_problem import WiringProblem, problem


def check_tolerances(
    participants: Mapping[str, Any], common: Any, given: Mapping[str, Any]
) -> tuple[dict[str, float | None], list[WiringProblem]]:
    """The tolerance of each participant, None where it takes its own, and what is wrong."""
    found: dict[str, float | None] = {}
    problems = []
    if common is not None and (fault := accuracy_fault(common)):
        problems.append(problem(("master", "tolerance"), fault))
        common = None
    for name in given:
        if name not in participants:
            text = str(cosim.LookUpError("participant", name, participants))
            problems.append(problem(("participants", name), text))
    for name in participants:
        own = given.get(name, common)
        if own is not None and (fault := accuracy_fault(own)):
            problems.append(problem(("participants", name, "tolerance"), fault))
            own = None
        found[name] = None if own is None else float(own)
    return found, problems
