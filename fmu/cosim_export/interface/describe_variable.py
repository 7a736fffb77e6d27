"""A variable of a system as a variable of an FMU: its type, variability, start, bounds and unit."""

from __future__ import annotations

import math
from collections.abc import Set

import cosim
from cosim.kit import Variable, parse_unit
from cosim_export.interface.element_choice import ELEMENT, Element
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.frame_angles import POSE_SIZE, angle_of
from cosim_export.interface.named_by_model import CONTINUOUS_STATES, DISCRETE_STATES, is_pose
from cosim_export.interface.smallest_accepted import smallest_accepted
from cosim_export.interface.type_definitions import DISPLAY_UNITS

TYPES = {float: "Real", int: "Integer", bool: "Boolean"}
LARGEST_INTEGER = 2**31 - 1
"""The largest Integer of FMI 2.0."""


def variable_of(
    system: cosim.System, start: cosim.State, element: Element, causality: str, discrete: Set[str]
) -> FmuVariable:
    """An element of a variable of the model as a variable of the FMU."""
    variable, slot = element.variable, element.variable.slot
    offset = slot.offset + element.index
    is_set = causality in ("parameter", "fixed", "input")
    type_ = _type(variable)
    variability = _variability(variable, type_, causality, variable.path in discrete)
    initial = _initial(variable, causality)
    value = None if initial == "calculated" else _start(system, start, element)
    if not is_set and value in (math.inf, -math.inf):
        initial, value = "calculated", None  # such as an unset timer: many tools read no infinite start value
    if type_ == "Integer" and slot.array == "p" and isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        type_, value = "Real", float(value)
    if type_ == "String" and value is not None:
        value = variable.words[int(value) - 1]
    unit = variable.unit(element.index) if element.angle is None else "rad"
    is_parameter = causality in ("parameter", "fixed")
    smallest = None
    if is_parameter and type_ == "Real" and variable.minimum is not None:
        smallest = smallest_accepted(system, start, element.path, offset, variable.minimum)
    return FmuVariable(
        name=element.name,
        path=element.path,
        array=slot.array,
        offset=offset,
        stage=int(cosim.Stage(variable.stage)) if slot.array == "c" else int(cosim.Stage.EMPTY),
        type=type_,
        causality="parameter" if is_parameter else causality,
        variability=variability,
        initial=initial,
        unit=unit,
        start=value,
        minimum=variable.minimum if is_set else None,
        smallest=smallest,
        maximum=variable.maximum if is_set else None,
        description=_about(variable, element),
        display_unit=DISPLAY_UNITS.get(unit, "") if type_ == "Real" else "",
        nominal=_nominal(system, variable, element.index) if type_ == "Real" else None,
        angle=element.angle,
        items=variable.words,
    )


def _type(variable: Variable) -> str:
    """The type of a variable in FMI."""
    if variable.words:
        return "String" if variable.is_text else "Enumeration"
    return TYPES[variable.dtype]


def _variability(variable: Variable, type_: str, causality: str, is_held: bool) -> str:
    """The variability of a variable; `is_held`: whether it changes at events only."""
    if causality in ("parameter", "fixed"):
        return "tunable" if causality == "parameter" else "fixed"
    is_discrete = variable.kind in DISCRETE_STATES or type_ != "Real" or (causality != "input" and is_held)
    return "discrete" if is_discrete else "continuous"


def _initial(variable: Variable, causality: str) -> str:
    """The attribute `initial` of FMI: "exact", "calculated", or "" for an input."""
    if causality == "input":
        return ""
    is_state = variable.kind in (*CONTINUOUS_STATES, *DISCRETE_STATES)
    return "exact" if is_state or causality in ("parameter", "fixed") else "calculated"


def _start(system: cosim.System, start: cosim.State, element: Element) -> float | str:
    """The value of an element in the start state, in SI units."""
    slot = element.variable.slot
    numbers = dict(zip("ypdkhc", system.arrays(start), strict=True))[slot.array]
    if element.angle is not None:
        pose = numbers[slot.offset : slot.offset + POSE_SIZE].tolist()
        return angle_of(pose, element.angle)
    return element.variable.dtype(numbers[slot.offset + element.index].item())


def _nominal(system: cosim.System, variable: Variable, index: int) -> float | None:
    """The declared magnitude; by default 1 for angles and quaternions that are coordinates of joints."""
    is_of_joint = variable.kind == "position" and system.parts[variable.path.partition(".")[0]].solved_by
    if variable.nominal is None and is_of_joint and variable.unit(index) in ("rad", "1"):
        return 1.0
    return variable.nominal


def _about(variable: Variable, element: Element) -> str:
    if element.angle is not None:
        return f"{variable.description}: body-fixed x-y-z angle about {'xyz'[element.angle]}"
    if is_pose(variable) and element.index >= 9:
        return f"{variable.description}: position along {'xyz'[element.index - 9]}"
    if variable.elements:
        sentence, _, _ = variable.description.partition(". ")  # further ones describe the whole vector
        return f"{sentence}: {variable.elements[element.index]}"
    return variable.description


def derivative_of(system: cosim.System, state: FmuVariable) -> FmuVariable:
    """The variable for the time derivative of a continuous state, at the place of the state in the cache."""
    base, index = _base(state.path), ELEMENT.match(state.path)
    units = system.signal(f"{base}_dot").units
    unit = units[int(index["index"]) if index and len(units) > 1 else 0]
    if "(" in unit and parse_unit(unit).factor == 1.0:
        unit = parse_unit(unit).base  # m/s2 for m/(s.s)
    attributes = {"unit": unit, "description": f"rate of {state.name}", "derivative_of": state.name}
    path = state.path.replace(base, f"{base}_dot", 1)
    return FmuVariable.computed(f"der({state.name})", path, state.offset, **attributes)


def _base(path: str) -> str:
    """The path without the index of an element."""
    return ELEMENT.sub(r"\g<base>", path)
