"""Checks what the master asks of participants: lengths of steps, abilities, tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim.kit import accuracy_fault
from cosim_master.coupling.coupling import CommunicationPoints
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.ports import Descriptions

SAME = 1e-9
"""Lengths of steps that differ by a smaller part of a step are equal."""
MOST_STEPS = 2.0**53
"""Beyond, a real number does not count one by one."""


def check_steps(
    participants: Mapping[str, Any],
    steps: Mapping[str, float | str],
    step: float,
    algorithm: cosim.MasterAlgorithm | None,
) -> tuple[dict[str, int], list[WiringProblem]]:
    """For each participant with a step of its own the multiple of the common one, and what is wrong."""
    step_multiple: dict[str, int] = {}
    problems = []
    for name, length in steps.items():
        key = ("participants", name, "step")
        if name not in participants:
            text = str(cosim.LookUpError("participant", name, participants))
            problems.append(problem(("participants", name), text))
            continue
        try:
            own_step = cosim.parse_quantity(length, "s") if isinstance(length, str) else float(length)
        except (cosim.UnitError, TypeError, ValueError) as error:
            problems.append(problem(key, str(error)))
            continue
        multiple = own_step / step if own_step > 0.0 else 0.0
        if not 1.0 - SAME <= multiple < MOST_STEPS or abs(multiple - round(multiple)) > SAME * multiple:
            text = f"is {own_step:g} s, needs a multiple of the communication step, {step:g} s"
            problems.append(problem(key, text))
            continue
        step_multiple[name] = round(multiple)
        if step_multiple[name] > 1 and algorithm is not None and not algorithm.fixed_sequence:
            text = (
                f"is longer than the communication step, which {type(algorithm).__name__} here cannot deal "
                "with: take jacobi or gauss_seidel without extrapolation"
            )
            problems.append(problem(key, text))
    return step_multiple, problems


def check_copies(descriptions: Descriptions) -> list[WiringProblem]:
    """A problem for each FMU that is used twice although it can be instantiated only once in a process."""
    first: dict[str, str] = {}
    problems = []
    for name, description in descriptions.items():
        identity = description.only_once
        if identity and identity in first:
            text = f"is the same FMU as {first[identity]}, and it can be instantiated only once in a process"
            problems.append(problem(("participants", name), text))
        first.setdefault(identity, name)
    return problems


def check_clocks(descriptions: Descriptions) -> list[WiringProblem]:
    """A problem for each clock that has to tick by itself and does not say when."""
    return [
        problem(("participants", name), f"clock {clock} cannot tick: {reason}")
        for name, description in descriptions.items()
        for clock, reason in description.clocks_without_interval.items()
    ]


def check_abilities(
    descriptions: Descriptions, algorithm: cosim.MasterAlgorithm | None
) -> list[WiringProblem]:
    """A problem for each participant that cannot do what the algorithm wants of it."""
    if algorithm is None:
        return []
    kind = type(algorithm).__name__
    problems = []
    for name, description in descriptions.items():
        if algorithm.restores and not description.can_restore:
            text = (
                f"cannot save and restore its state, which {kind} needs: take one of the algorithms that do "
                f"without, {', '.join(_without_restoring(descriptions))}"
            )
            problems.append(problem(("participants", name), text))
        if algorithm.varies_step and not description.variable_step:
            text = (
                f"cannot vary its communication step, which {kind} does: take one of the algorithms that do "
                f"not, {', '.join(_with_equal_steps(descriptions))}"
            )
            problems.append(problem(("participants", name), text))
    return problems


def _without_restoring(descriptions: Descriptions) -> list[str]:
    """Algorithms for participants that cannot go back."""
    with_equal_steps = _with_equal_steps(descriptions)
    can_vary = all(description.variable_step for description in descriptions.values())
    return [
        name for name, kind in _algorithms() if not kind.restores and (can_vary or name in with_equal_steps)
    ]


def _with_equal_steps(descriptions: Descriptions) -> list[str]:
    """Algorithms for participants that cannot vary their step."""
    can_restore = all(description.can_restore for description in descriptions.values())
    return [
        name for name, kind in _algorithms() if not kind.varies_step and (can_restore or not kind.restores)
    ]


def _algorithms() -> list[tuple[str, Any]]:
    """Names and classes of those that scenarios can name."""
    entries = cosim.registry().entries("master_algorithm")
    return [(e.id.removeprefix("fmu."), e.cls) for e in entries if e.id != "fmu.joint"]  # it takes another


def check_last_step(
    descriptions: Descriptions, step_multiple: Mapping[str, int], points: CommunicationPoints
) -> list[WiringProblem]:
    """A problem for each participant whose last step would be a shorter one, which it cannot take."""
    last = points.time(points.count) - points.time(points.count - 1) if points.count else points.step
    problems = []
    for name, description in descriptions.items():
        cut = abs(last - points.step) > SAME * points.step or points.count % step_multiple.get(name, 1) != 0
        if cut and not description.variable_step:
            own = step_multiple.get(name, 1) * points.step
            text = (
                f"{name} cannot vary its communication step, and the end, {points.until:g} s, is not a "
                f"multiple of {own:g} s away from the start: choose the end or the step so"
            )
            problems.append(problem(("master", "until"), text))
    return problems


def check_tolerances(
    participants: Mapping[str, Any], common: Any, of_single: Mapping[str, Any]
) -> tuple[dict[str, float | None], list[WiringProblem]]:
    """The tolerance of each participant, None where it takes its own, and what is wrong."""
    tolerances_of: dict[str, float | None] = {}
    problems = []
    if common is not None and (fault := accuracy_fault(common)):
        problems.append(problem(("master", "tolerance"), fault))
        common = None
    for name in of_single:
        if name not in participants:
            text = str(cosim.LookUpError("participant", name, participants))
            problems.append(problem(("participants", name), text))
    for name in participants:
        tolerance = of_single.get(name, common)
        if tolerance is not None and (fault := accuracy_fault(tolerance)):
            problems.append(problem(("participants", name, "tolerance"), fault))
            tolerance = None
        tolerances_of[name] = None if tolerance is None else float(tolerance)
    return tolerances_of, problems
