"""Checks of participants: lengths of steps, abilities, tolerances, start values, types of outputs, ticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable, accuracy_fault
from cosim_master.abilities import WaitsForInputs
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.link import Link
from cosim_master.coupling.ports import Descriptions, find_port, with_article
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.coupling.unit_conversion import Quantity

ROUNDING = 1e-9
"""Lengths of steps are equal if they differ by a smaller part of a step."""
MOST_STEPS = 2.0**53
"""Larger numbers of steps are not exact as real numbers."""
START_TYPES: dict[str, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    "integer": ((Integral,), int),
    "boolean": ((bool, np.bool_), bool),
    "string": ((str,), str),
    "binary": ((bytes, bytearray), bytes),
}
"""The accepted types of a start value by the type of its variable, and what converts them."""
OUTPUT_TYPES: dict[str, tuple[type, ...]] = {
    "real": (Real,),
    "integer": (Integral,),
    "boolean": (bool, np.bool_, int),
    "clock": (bool, np.bool_, int),
    "string": (str,),
    "binary": (bytes, bytearray),
}
"""The accepted types of a value that a participant returns."""


def check_steps(
    participants: Mapping[str, Any],
    steps: Mapping[str, float | str],
    step: float,
    algorithm: cosim.MasterAlgorithm | None,
) -> tuple[dict[str, int], list[WiringProblem]]:
    """The multiple of the common step for each participant with its own step, and the problems."""
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
        if (
            not 1.0 - ROUNDING <= multiple < MOST_STEPS
            or abs(multiple - round(multiple)) > ROUNDING * multiple
        ):
            text = f"is {own_step:g} s, needs a multiple of the communication step, {step:g} s"
            problems.append(problem(key, text))
            continue
        step_multiple[name] = round(multiple)
        if step_multiple[name] > 1 and algorithm is not None and not algorithm.fixed_sequence:
            text = (
                f"is longer than the communication step, which {type(algorithm).__name__} does not support "
                "here: use jacobi or gauss_seidel without extrapolation"
            )
            problems.append(problem(key, text))
    return step_multiple, problems


def check_joint(joint: Any, step_multiple: Mapping[str, int]) -> list[WiringProblem]:
    """A problem for each member of a joint system (None: there is none) with a step of its own."""
    text = "is solved jointly with others: it has no step of its own"
    return [
        problem(("participants", name, "step"), text)
        for name in ([] if joint is None else joint.names)
        if step_multiple.get(name, 1) > 1
    ]


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
    """A problem for each clock with an interval that declares none."""
    return [
        problem(("participants", name), f"clock {clock} cannot tick: {reason}")
        for name, description in descriptions.items()
        for clock, reason in description.clocks_without_interval.items()
    ]


def check_abilities(
    descriptions: Descriptions, algorithm: cosim.MasterAlgorithm | None
) -> list[WiringProblem]:
    """A problem for each participant that lacks an ability that the algorithm needs."""
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
    """Names and classes of the algorithms that an error message suggests."""
    entries = cosim.registry().entries("master_algorithm")
    return [
        (e.id.removeprefix("fmu."), e.cls) for e in entries if e.id != "fmu.joint"
    ]  # joint is used with another one


def check_last_step(
    descriptions: Descriptions, step_multiple: Mapping[str, int], points: CommunicationPoints
) -> list[WiringProblem]:
    """A problem for each participant whose last step would be a shorter one, which it cannot take."""
    last = points.time(points.count) - points.time(points.count - 1) if points.count else points.step
    problems = []
    for name, description in descriptions.items():
        multiple = step_multiple.get(name, 1)
        is_cut = abs(last - points.step) > ROUNDING * points.step or points.count % multiple != 0
        if is_cut and not description.variable_step:
            step = multiple * points.step
            text = (
                f"{name} cannot vary its communication step, and the end, {points.until:g} s, is not a "
                f"multiple of {step:g} s away from the start: choose the end or the step so"
            )
            problems.append(problem(("master", "until"), text))
    return problems


def check_tolerances(
    participants: Mapping[str, Any], common: Any, of_single: Mapping[str, Any]
) -> tuple[dict[str, float | None], list[WiringProblem]]:
    """The tolerance of each participant, None for its own default, and the problems."""
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


def check_starts(
    descriptions: Descriptions, unknown: Sequence[str], starts: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], list[WiringProblem]]:
    """Start values by participant, in the units of their variables, and the problems of the others.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    unknown : sequence of str
        Participants whose description could not be read.
    starts : mapping of str to object
        ``{"plant.mass": 2.0}``. A real number may be a text with a unit, an array nested lists, an item of an
        enumeration its name.
    """
    values: dict[str, dict[str, Any]] = {name: {} for name in descriptions}
    elements, problems = _start_elements(descriptions, starts)
    for path, value in elements.items():
        participant, _, name = path.partition(".")
        variable, fault = find_port(descriptions, unknown, path, "")
        if variable is not None:
            try:
                values[participant][name] = _converted(descriptions[participant], path, variable, value)
            except (ValueError, cosim.UnitError) as error:
                fault = str(error)
        if fault:
            problems.append(problem(("participants", participant, "parameters", name), fault))
    return values, problems


def _converted(
    description: ParticipantDescription, path: str, variable: ParticipantVariable, value: Any
) -> Any:
    """A start value in the unit and type of its variable; `ValueError` with a sentence if it has none."""
    items = dict(description.enumerations.get(variable.name, ()))
    if items and isinstance(value, str) and value not in items:
        raise ValueError(f"{path} is {value!r}, needs one of {', '.join(map(repr, items))}")
    number = items.get(value, value) if isinstance(value, str) else value
    settable = description.settable
    is_settable = variable.causality in ("parameter", "input")
    if settable is not None:
        is_settable = variable.name in settable
    if not is_settable:
        raise ValueError(f"{path} is {with_article(variable.causality)}, which takes no start value")
    try:
        return _start_value(variable, number)
    except (ValueError, cosim.UnitError) as error:
        raise ValueError(f"{path} {error}") from None


def _start_elements(
    descriptions: Descriptions, starts: Mapping[str, Any]
) -> tuple[dict[str, Any], list[WiringProblem]]:
    """The start values with arrays split into their elements, and a problem for each wrong shape."""
    by_path: dict[str, Any] = {}
    problems: list[WiringProblem] = []
    for path, value in starts.items():
        participant, _, name = path.partition(".")
        arrays = descriptions[participant].arrays if participant in descriptions else {}
        if name not in arrays:
            by_path[path] = value
            continue
        shape, elements = arrays[name]
        try:
            array = np.array(value, dtype=object)
        except ValueError:
            array = np.array(None)
        if array.shape != shape:
            text = f"{path} has the shape {_shape_text(array.shape)}, needs {_shape_text(shape)}"
            problems.append(problem(("participants", participant, "parameters", name), text))
            continue
        values = zip(elements, array.ravel().tolist(), strict=True)
        by_path.update({f"{participant}.{element}": value for element, value in values})
    return by_path, problems


def _shape_text(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) if shape else "of a scalar"


def _start_value(variable: ParticipantVariable, value: Any) -> Any:
    """A number or text in the type of a variable; `ValueError` with the rest of a sentence."""
    if isinstance(value, Quantity):
        unit = value.unit if variable.unit != "1" else "1"
        return cosim.parse_quantity(f"{value.number!r} {unit}", variable.unit)
    if variable.type == "real":
        if isinstance(value, str):
            return cosim.parse_quantity(value, variable.unit)
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
            raise ValueError(f"is {value!r}, needs a number [{variable.unit}]")
        if not math.isfinite(value):
            raise ValueError(f"is {value}, needs a finite number [{variable.unit}]")
        return float(value)
    if variable.type in ("integer", "boolean") and isinstance(value, Real) and not isinstance(value, bool):
        is_whole = math.isfinite(value) and value == math.floor(value)
        if is_whole and (variable.type == "integer" or value in (0, 1)):
            value = math.floor(value) if variable.type == "integer" else bool(value)
    accepted, convert = START_TYPES[variable.type]
    if not isinstance(value, accepted) or (variable.type == "integer" and isinstance(value, bool)):
        raise ValueError(f"is {value!r}, needs a value of type {variable.type}")
    return convert(value)


def check_values(description: ParticipantDescription, names: Sequence[str], values: Sequence[Any]) -> None:
    """Refuse values of outputs that do not have the types of their variables.

    Raises
    ------
    CosimError
        With a sentence about the first such value.
    """
    for name, value in zip(names, values, strict=True):
        kind = description.variables[name].type
        if not isinstance(value, OUTPUT_TYPES[kind]):
            raise cosim.CosimError(f"get returned {value!r:.80} for {name}, declared as {kind}")


def early_ticks(participants: Mapping[str, cosim.Participant], links: Sequence[Link]) -> list[str]:
    """A warning where ticks are passed on to a participant that answers with ticks of its own, such as a bus.

    With an algorithm that exchanges within a step the receiver ticks at the start of its step, with values
    that the sender has at the end of its step.
    """
    waiting = {
        name for name, p in participants.items() if isinstance(p, WaitsForInputs) and p.ticks_follow_inputs
    }
    early = [link for link in links if link.target in waiting and link.source not in waiting]
    if not early:
        return []
    names = ", ".join(sorted({link.target for link in early}))
    return [
        f"{names} answers what arrives with ticks of its own: messages come up to a step early with an "
        'algorithm that exchanges within a step; take algorithm = "jacobi"'
    ]
