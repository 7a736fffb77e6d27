"""The variables that a model names: the default interface of an FMU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import cosim
from cosim.kit import Variable, matches

CONTINUOUS_STATES = ("position", "speed", "auxiliary")
DISCRETE_STATES = ("discrete", "integer")
POSE_UNITS = ("1",) * 9 + ("m",) * 3


class NamedByModel:
    """Paths of the variables that a model names.

    Parameters
    ----------
    system : cosim.System
    defaults : bool
        Whether parameters with their default value are included if the class of their part declares them.

    Attributes
    ----------
    outputs : list of str
        Outputs and measures, then the signals that the model records, with coordinates under their names
        (``hinge.angle`` for ``hinge.q``); diagnostics (energies) only if the model records them.
    parameters : list of str
        Parameters with a value in the model, and those that the class of a part or one of its bases declares;
        not those of contracts (switches) and measures.
    frames : list of str
        Frames with a value in the model.
    states : list of str
        States with a start value in the model, coordinates that have a name, and states of parts with
        equations of their own; not those of diagnostics and measures.
    """

    def __init__(self, system: cosim.System, *, defaults: bool = True) -> None:
        self._system = system
        self._defaults = defaults
        self._variables: Mapping[str, Variable] = system.variables
        self._starts = set() if system.model is None else {p.partition("[")[0] for p in system.model.starts}
        self._coordinates = {p: names for p in self._variables if (names := self._names_of(p))}
        self.outputs = list(dict.fromkeys([*self._declared(), *self._recorded()]))
        self.parameters = list(self._parameters())
        self.frames = [p for p, v in self._variables.items() if is_pose(v) and self._given(v)]
        self.states = list(dict.fromkeys(self._states()))
        if not self.outputs and not self.states:
            self.states = self._aliases()

    def _declared(self) -> list[str]:
        """The declared outputs and measures, without diagnostics."""
        return [p for p in self._system.outputs if self._is_readable(p) and not self._variables[p].diagnostic]

    def _recorded(self) -> Iterator[str]:
        """The signals that the model records: whole variables, and elements that a pattern names."""
        model = self._system.model
        for pattern in () if model is None else model.simulation.get("signals") or ():
            for path in filter(self._is_readable, self._variables):
                names = self._coordinates.get(path)
                if matches(path, pattern):
                    yield from names or [path]
                elif self._variables[path].shape and "[" in pattern:
                    elements = [f"{path}[{i}]" for i in range(self._variables[path].slot.size)]
                    shown = zip(elements, names or elements, strict=False)
                    yield from (name for element, name in shown if matches(element, pattern))

    def _is_readable(self, path: str) -> bool:
        """Whether a variable is computed or a state."""
        return self._variables[path].kind not in ("parameter", "signal") and path not in self._system.inputs

    def _given(self, variable: Variable) -> bool:
        """Whether a variable has a start value in the model, or a parameter a value."""
        part, _, name = variable.path.partition(".")
        return variable.path in self._starts or name in self._system.parts[part].values.given

    def _is_declared(self, variable: Variable) -> bool:
        """Whether the author of a part's class declares a parameter, and not a contract or a measure."""
        part, _, name = variable.path.partition(".")
        cls = type(self._system.parts[part])
        declaring = next((base for base in cls.__mro__ if name in vars(base)), cls)
        return not issubclass(cls, cosim.Measure) and "contracts" not in declaring.__module__.split(".")

    def _parameters(self) -> Iterator[str]:
        """The parameters with a value in the model, and those that the author of a class declares."""
        for path, variable in self._variables.items():
            is_constant = variable.minimum is not None and variable.minimum == variable.maximum
            if variable.kind != "parameter" or is_pose(variable) or is_constant:
                continue
            if not self._given(variable):
                if self._defaults and self._is_declared(variable):
                    yield path
                continue
            part, _, name = path.partition(".")
            value: Any = self._system.parts[part].values.given.get(name)
            is_word = isinstance(value, str) and not any(letter.isdigit() for letter in value)
            if is_word and not variable.words:
                continue  # such as the name of an axis
            if _is_shorter(value, variable.slot.size):  # such as moments of inertia without the products
                yield from (f"{path}[{i}]" for i in range(len(value)))
            else:
                yield path

    def _states(self) -> Iterator[str]:
        """The states that have a start value in the model, or a name, or belong to a part's own equations."""
        for path, variable in self._variables.items():
            if variable.kind not in (*CONTINUOUS_STATES, *DISCRETE_STATES):
                continue
            part = self._system.parts[path.partition(".")[0]]
            moves = part.solved_by is not None
            if path in self._coordinates:
                yield from self._coordinates[path]
            elif self._given(variable) or not (
                variable.diagnostic or moves or isinstance(part, cosim.Measure)
            ):
                yield path

    def _names_of(self, path: str) -> list[str]:
        """The names of all coordinates that a variable holds, in order; empty if one has no name."""
        variable = self._variables[path]
        if variable.kind not in CONTINUOUS_STATES or variable.slot.array != "y":
            return []
        named = sorted(
            (alias for alias in self._aliases() if self._is_inside(alias, variable)),
            key=lambda alias: self._variables[alias].slot.offset,
        )
        places = [self._variables[alias].slot.offset - variable.slot.offset for alias in named]
        return named if places == list(range(variable.slot.size)) else []

    def _is_inside(self, alias: str, variable: Variable) -> bool:
        """Whether a named signal is an element of a variable."""
        inner, outer = self._variables[alias].slot, variable.slot
        return inner.array == outer.array and outer.offset <= inner.offset < outer.offset + outer.size

    def _aliases(self) -> list[str]:
        """The named signals of all parts."""
        return [f"{name}.{alias}" for name, part in self._system.parts.items() for alias in part.signals]


def _is_shorter(value: Any, size: int) -> bool:
    """Whether a value is a list of numbers, but not of as many as the parameter has."""
    numbers = isinstance(value, (list, tuple)) and not any(isinstance(x, (list, tuple)) for x in value)
    return numbers and 0 < len(value) < size


def is_pose(variable: Variable) -> bool:
    """Whether it is the pose of a frame: a rotation matrix by rows, then a position."""
    return variable.kind == "parameter" and variable.units == POSE_UNITS
