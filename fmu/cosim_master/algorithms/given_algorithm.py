"""The master algorithm as it is given: an id, a class or an instance."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

import cosim
from cosim_master.coupling.wiring_problem import WiringProblem, problem


def made_algorithm(
    given: Any, options: Mapping[str, Any], problems: list[WiringProblem]
) -> cosim.MasterAlgorithm | None:
    """The algorithm with its options; None, and problems, where there is none."""
    if isinstance(given, str):
        try:
            given = cosim.registry().get("master_algorithm", given if "." in given else f"fmu.{given}")
        except cosim.LookUpError as error:
            problems.append(problem(("master", "algorithm"), str(error)))
            return None
    if isinstance(given, type) and issubclass(given, cosim.MasterAlgorithm):
        given = _made(given, options, problems)
        if given is None:
            return None
    if not isinstance(given, cosim.MasterAlgorithm):
        text = f'is {given!r}, needs the id of a master algorithm ("jacobi"), a class or an instance'
        problems.append(problem(("master", "algorithm"), text))
        return None
    return given


def _made(
    kind: type[cosim.MasterAlgorithm], options: Mapping[str, Any], problems: list[WiringProblem]
) -> cosim.MasterAlgorithm | None:
    known = [name for name in signature(kind).parameters if name != "self"]
    unknown = [name for name in options if name not in known]
    for name in unknown:
        text = str(cosim.LookUpError(f"option of {kind.__name__}", name, known))
        problems.append(problem(("master", "options", name), text))
    if unknown:
        return None
    try:
        return kind(**options)
    except cosim.ModelError as error:
        problems += [problem(("master", "options", fault.where), fault.text) for fault in error.problems]
        return None
