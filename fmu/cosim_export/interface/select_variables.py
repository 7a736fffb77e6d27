"""The selection of variables of a system for an FMU."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import cosim
from cosim.kit import Variable, matches, parse_unit
from cosim_export.interface.first_state import first_state
from cosim_export.interface.fmu_variable import FmuVariable, smallest_accepted
from cosim_export.interface.model_description import DISPLAY_UNITS
from cosim_export.interface.named_by_model import CONTINUOUS_STATES, DISCRETE_STATES, NamedByModel, is_pose
from cosim_export.interface.names import element_name


def angle_of(pose: Sequence[float], index: int) -> float:
    """An angle of a frame, rad, from its twelve reals.

    Examples
    --------
    >>> angle_of((0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), 2)
    1.5707963267948966
    """
    return float(_spatial().angles_123(pose)[index])


def turned(pose: Sequence[float], angles: Mapping[int, float]) -> list[float]:
    """A frame with some of its angles replaced, rad; the others and the position stay."""
    spatial = _spatial()
    all_angles = [angles.get(i, angle) for i, angle in enumerate(spatial.angles_123(pose))]
    return [*spatial.pose_from_angles(all_angles, pose[9:])]


def _spatial() -> Any:
    """The module of frames, by name: an FMU without frames does not carry mechanics."""
    return importlib.import_module("cosim_mechanics.spatial")


TYPES = {float: "Real", int: "Integer", bool: "Boolean"}
LARGEST_INTEGER = 2**31 - 1  # of FMI 2.0
POSE_SIZE = 12  # a rotation matrix and a position
ELEMENT = re.compile(r"^(?P<base>.+)\[(?P<index>\d+)\]$")


def select_variables(
    system: cosim.System,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
    expose: Sequence[str] | None = None,
    all: bool = False,  # noqa: A002
    defaults: bool = True,
) -> tuple[FmuVariable, ...]:
    """Inputs, outputs, parameters and locals of the FMU, in this order.

    Parameters
    ----------
    system : cosim.System
    inputs, outputs, parameters, expose : sequence of str, optional
        Paths (elements count from 0) or patterns; None for the defaults of `cosim.Exporter.export`.
    all : bool
        Whether these defaults are everything in place of what the model names.
    defaults : bool
        Whether parameters that keep their default are among those that the model names.

    Returns
    -------
    tuple of FmuVariable
        Every scalar once; what is an output is not a local as well. Each continuous state among them is
        followed at the end by its derivative: ``der(strut.x)``.

    Raises
    ------
    ModelError
        Every selection that matches nothing, with the nearest name; nothing at all to show.
    """
    chooser = _Chooser(system)
    free = set(system.inputs)
    kinds = {path: variable.kind for path, variable in chooser.variables.items()}
    readable = [p for p, kind in kinds.items() if kind not in ("parameter", "signal") and p not in free]
    tunable = [p for p, kind in kinds.items() if kind == "parameter"]
    named = NamedByModel(system, defaults=defaults)
    chosen_inputs = chooser.choose("inputs", inputs, list(system.inputs), list(system.inputs))
    declared = [p for p in system.outputs if p in readable]
    chosen_outputs = chooser.choose("outputs", outputs, readable, declared if all else named.outputs)
    chosen_parameters = chooser.choose(
        "parameters", parameters, tunable, tunable if all else named.parameters
    )
    shown = chooser.shown_by_default(readable) if all else [*named.outputs, *named.states]
    chosen_locals = chooser.choose("expose", expose, readable, shown)
    if chooser.problems:
        raise cosim.ModelError(chooser.problems)
    start, discrete = first_state(system).realize(cosim.Stage.TIME), system.discrete_signals()
    chosen: dict[str, FmuVariable] = {}
    states: set[int] = set()
    for causality, paths in (
        ("input", chosen_inputs),
        ("output", chosen_outputs),
        ("parameter", chosen_parameters),
        ("fixed", named.frames if parameters is None and not all else []),
        ("local", chosen_locals),
    ):
        for path in paths:
            for element in chooser.elements(path):
                if element.name not in chosen:
                    variable = _variable(system, start, element, causality, discrete)
                    if variable.array == "y" and variable.offset in states:
                        variable = _as_alias(variable)
                    elif variable.array == "y":
                        states.add(variable.offset)
                    chosen[element.name] = variable
    if not chosen:
        raise cosim.ModelError.of(
            "", "an FMU of this would have no variables: nothing to set and nothing to see"
        )
    derivatives = [_derivative(system, v) for v in chosen.values() if v.array == "y" and v.initial == "exact"]
    chosen |= {v.name: v for v in derivatives}
    return with_dependencies(system, chosen.values())


def with_dependencies(system: cosim.System, variables: Iterable[FmuVariable]) -> tuple[FmuVariable, ...]:
    """The variables; outputs and derivatives know on which others of them they depend."""
    listed = tuple(variables)
    places = {v.name: _places(system, v) for v in listed if not v.derivative_of and _is_known(v)}
    set_by_name = {p for v in listed if v.name in places and v.is_settable for p in places[v.name]}
    for variable in listed:  # what is seen under another name already
        if variable.name in places and not variable.is_settable and places[variable.name] <= set_by_name:
            del places[variable.name]

    def behind(path: str, initially: bool) -> tuple[set[tuple[str, int]], tuple[str, ...]]:
        sources = system.sources(path, initially=initially)
        return sources, tuple(
            name for name, places_of_variable in places.items() if not places_of_variable.isdisjoint(sources)
        )

    return tuple(_dependent(v, behind) for v in listed)


def _dependent(
    variable: FmuVariable, behind: Callable[[str, bool], tuple[set[tuple[str, int]], tuple[str, ...]]]
) -> FmuVariable:
    if variable.causality != "output" and not variable.derivative_of:
        return variable
    (sources, names), (initial_sources, initial_names) = (
        behind(variable.path, initially) for initially in (False, True)
    )
    return replace(
        variable,
        dependencies=names,
        initial_dependencies=initial_names,
        depends_on_time=("t", 0) in sources,
        initially_on_time=("t", 0) in initial_sources,
    )


def _is_known(variable: FmuVariable) -> bool:
    """Whether others can depend on it: an input, a parameter, or a state under the name that it is set by."""
    return variable.is_settable or variable.array != "c"


def _places(system: cosim.System, variable: FmuVariable) -> set[tuple[str, int]]:
    """The places (array, offset) that others read: of an input its value in d, of an angle its rotation."""
    if variable.causality == "input":
        slot = system.written_slot(variable.path)
        return {(slot.array, slot.offset)}
    size = 1 if variable.angle is None else 9
    return {(variable.array, variable.offset + i) for i in range(size)}


def _derivative(system: cosim.System, state: FmuVariable) -> FmuVariable:
    """The variable for the time derivative of a continuous state; all of them lead the cache."""
    base, index = _base(state.path), ELEMENT.match(state.path)
    units = system.signal(f"{base}_dot").units
    unit = units[int(index["index"]) if index and len(units) > 1 else 0]
    if "(" in unit and parse_unit(unit).factor == 1.0:
        unit = parse_unit(unit).base  # m/s2 for m/(s.s)
    more = {"unit": unit, "description": f"rate of {state.name}", "derivative_of": state.name}
    path = state.path.replace(base, f"{base}_dot", 1)
    return FmuVariable.computed(f"der({state.name})", path, state.offset, **more)


@dataclass(frozen=True)
class _Element:
    """A scalar of a variable of the system."""

    variable: Variable
    name: str
    path: str
    index: int
    angle: int | None = None


def _elements_of_frame(variable: Variable) -> list[_Element]:
    """Position and angles in place of twelve numbers that go together."""
    place = [
        _Element(variable, f"{variable.path}.position[{i + 1}]", f"{variable.path}[{9 + i}]", 9 + i)
        for i in range(3)
    ]
    return place + [
        _Element(variable, f"{variable.path}.angles[{i + 1}]", variable.path, 0, i) for i in range(3)
    ]


@dataclass
class _Chooser:
    """Matches paths and patterns against the variables of a system, and collects what matches nothing."""

    system: cosim.System
    problems: list[cosim.Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.variables: dict[str, Variable] = dict(self.system.variables)

    def choose(
        self, what: str, wanted: Sequence[str] | None, candidates: list[str], default: Iterable[str]
    ) -> list[str]:
        """Paths in the order of the candidates for a pattern, in the order given otherwise."""
        if wanted is None:
            return list(default)
        if isinstance(wanted, str):
            wanted = [wanted]
        chosen: dict[str, None] = {}
        for name in wanted:
            text = self._name_of_measure(name) if name not in candidates else name
            matching = [text] if text in candidates else [c for c in candidates if matches(c, text)]
            if not matching:
                matching = [e for c in candidates for e in self._elements_of(c) if matches(e, text)]
            if not matching:
                hint = "" if candidates else "This model has none."
                error = cosim.LookUpError(what.removesuffix("s"), text, candidates, hint)
                self.problems.append(cosim.Problem(what, str(error)))
            chosen.update(dict.fromkeys(matching))
        return list(chosen)

    def _name_of_measure(self, text: str) -> str:
        """The name of a measure for that of its value; other text as it is."""
        measure = self.variables.get(text.removesuffix(".value"))
        return measure.path if measure is not None and measure.kind == "measure" else text

    def _elements_of(self, path: str) -> list[str]:
        """Paths of the elements of a vector: ``engine.X_GB[11]``."""
        variable = self.variables[path]
        return [f"{path}[{i}]" for i in range(variable.slot.size)] if variable.shape else []

    def shown_by_default(self, readable: list[str]) -> list[str]:
        """States, named signals, declared outputs and measures."""
        named = {f"{name}.{alias}" for name, part in self.system.parts.items() for alias in part.signals}
        kinds = (*CONTINUOUS_STATES, *DISCRETE_STATES, "output", "measure")
        return [path for path in readable if self.variables[path].kind in kinds or path in named]

    def _state_behind(self, variable: Variable) -> Variable | None:
        """The state that a named signal is."""
        if variable.kind != "cache" or variable.slot.array != "y":
            return None
        at = variable.slot.offset
        return next(
            v
            for v in self.variables.values()
            if v.kind in CONTINUOUS_STATES and v.slot.offset <= at < v.slot.offset + v.slot.size
        )

    def elements(self, path: str) -> list[_Element]:
        """The scalars of a variable."""
        if path in self.variables:
            variable, only = self.variables[path], None
            if is_pose(variable):
                return _elements_of_frame(variable)
            state = self._state_behind(variable)
            if state is not None:
                index = variable.slot.offset - state.slot.offset
                raw = f"{state.path}[{index}]" if state.shape else state.path
                text = variable.description
                return [_Element(state._replace(description=text), path, raw, index)]
        else:
            match = ELEMENT.match(path)
            assert match is not None, path
            variable, only = self.variables[match["base"]], int(match["index"])
        indices = range(variable.slot.size) if only is None else [only]
        return [
            _Element(
                variable,
                element_name(variable.path, variable.shape, i),
                f"{variable.path}[{i}]" if variable.shape else variable.path,
                i,
            )
            for i in indices
        ]


def _as_alias(variable: FmuVariable) -> FmuVariable:
    """A state that is shown under another name already."""
    return replace(variable, initial="calculated", start=None)


def _base(path: str) -> str:
    """The path without the index of an element."""
    return ELEMENT.sub(r"\g<base>", path)


def _variable(
    system: cosim.System, start: cosim.State, element: _Element, causality: str, discrete: Set[str]
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
        initial, value = "calculated", None  # a timer that is not set: many tools read no infinite start
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
    """The variability of a variable; `is_held`: whether it changes at events alone."""
    if causality in ("parameter", "fixed"):
        return "tunable" if causality == "parameter" else "fixed"
    jumps = variable.kind in DISCRETE_STATES or type_ != "Real" or (causality != "input" and is_held)
    return "discrete" if jumps else "continuous"


def _initial(variable: Variable, causality: str) -> str:
    """The attribute `initial` of FMI: "exact", "calculated", or "" for an input."""
    if causality == "input":
        return ""
    is_state = variable.kind in (*CONTINUOUS_STATES, *DISCRETE_STATES)
    return "exact" if is_state or causality in ("parameter", "fixed") else "calculated"


def _start(system: cosim.System, start: cosim.State, element: _Element) -> float | str:
    """The value of an element in the start state, in SI units."""
    slot = element.variable.slot
    numbers = dict(zip("ypdkhc", system.arrays(start), strict=True))[slot.array]
    if element.angle is not None:
        pose = numbers[slot.offset : slot.offset + POSE_SIZE].tolist()
        return angle_of(pose, element.angle)
    return element.variable.dtype(numbers[slot.offset + element.index].item())


def _nominal(system: cosim.System, variable: Variable, index: int) -> float | None:
    """The magnitude that is declared; of angles and quaternions that are coordinates of joints it is 1."""
    is_of_joint = variable.kind == "position" and system.parts[variable.path.partition(".")[0]].solved_by
    if variable.nominal is None and is_of_joint and variable.unit(index) in ("rad", "1"):
        return 1.0
    return variable.nominal


def _about(variable: Variable, element: _Element) -> str:
    if element.angle is not None:
        return f"{variable.description}: body-fixed x-y-z angle about {'xyz'[element.angle]}"
    if is_pose(variable) and element.index >= 9:
        return f"{variable.description}: position along {'xyz'[element.index - 9]}"
    if variable.elements:
        sentence, _, _ = variable.description.partition(". ")  # what follows is for those who write vectors
        return f"{sentence}: {variable.elements[element.index]}"
    return variable.description
