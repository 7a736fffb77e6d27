"""Chooses variables of a system by paths and patterns, and splits them into scalars."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import cosim
from cosim.kit import Variable, matches
from cosim_export.interface.named_by_model import CONTINUOUS_STATES, DISCRETE_STATES, is_pose
from cosim_export.interface.names import element_name

ELEMENT = re.compile(r"^(?P<base>.+)\[(?P<index>\d+)\]$")
"""The path of an element of a vector, counted from 0."""


@dataclass(frozen=True)
class Element:
    """A scalar of a variable of the system.

    Attributes
    ----------
    variable : Variable
    name : str
        Its name in the FMU.
    path : str
        Its path in the system.
    index : int
        Its index among the numbers of the variable.
    angle : int, optional
        The index of an angle of a frame, which is computed from all twelve numbers.
    """

    variable: Variable
    name: str
    path: str
    index: int
    angle: int | None = None


def _elements_of_frame(variable: Variable) -> list[Element]:
    """Position and angles of a frame, in place of its twelve numbers, which depend on each other."""
    position = [
        Element(variable, f"{variable.path}.position[{i + 1}]", f"{variable.path}[{9 + i}]", 9 + i)
        for i in range(3)
    ]
    angles = [Element(variable, f"{variable.path}.angles[{i + 1}]", variable.path, 0, i) for i in range(3)]
    return position + angles


@dataclass
class ElementChoice:
    """Matches paths and patterns against the variables of a system, and collects what matches nothing."""

    system: cosim.System
    problems: list[cosim.Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.variables: dict[str, Variable] = dict(self.system.variables)

    def choose(
        self, option: str, names: Sequence[str] | None, candidates: list[str], default: Iterable[str]
    ) -> list[str]:
        """The paths that match names or patterns, in their order; the `default` without any.

        Parameters
        ----------
        option : str
            The option that holds the names, for messages: "inputs".
        names : sequence of str or None
            Paths or patterns; the matches of a pattern have the order of the candidates.
        candidates : list of str
            The paths to choose from.
        default : iterable of str
            The paths if `names` is None.
        """
        if names is None:
            return list(default)
        if isinstance(names, str):
            names = [names]
        chosen: dict[str, None] = {}
        for name in names:
            text = self._name_of_measure(name) if name not in candidates else name
            matching = [text] if text in candidates else [c for c in candidates if matches(c, text)]
            if not matching:
                matching = [e for c in candidates for e in self._elements_of(c) if matches(e, text)]
            if not matching:
                hint = "" if candidates else "This model has none."
                error = cosim.LookUpError(option.removesuffix("s"), text, candidates, hint)
                self.problems.append(cosim.Problem(option, str(error)))
            chosen.update(dict.fromkeys(matching))
        return list(chosen)

    def _name_of_measure(self, text: str) -> str:
        """The name of a measure for the path of its value; other text unchanged."""
        measure = self.variables.get(text.removesuffix(".value"))
        return measure.path if measure is not None and measure.kind == "measure" else text

    def _elements_of(self, path: str) -> list[str]:
        """Paths of the elements of a vector: ``engine.X_GB[11]``."""
        variable = self.variables[path]
        return [f"{path}[{i}]" for i in range(variable.slot.size)] if variable.shape else []

    def shown_by_default(self, readable: list[str]) -> list[str]:
        """The readable paths of states, named signals, declared outputs and measures."""
        named = {f"{name}.{alias}" for name, part in self.system.parts.items() for alias in part.signals}
        kinds = (*CONTINUOUS_STATES, *DISCRETE_STATES, "output", "measure")
        return [path for path in readable if self.variables[path].kind in kinds or path in named]

    def _aliased_state(self, variable: Variable) -> Variable | None:
        """The state that a named signal is another name for; None if it is not one."""
        if variable.kind != "cache" or variable.slot.array != "y":
            return None
        offset = variable.slot.offset
        return next(
            v
            for v in self.variables.values()
            if v.kind in CONTINUOUS_STATES and v.slot.offset <= offset < v.slot.offset + v.slot.size
        )

    def elements(self, path: str) -> list[Element]:
        """The scalars of a variable, or of one of its elements."""
        if path in self.variables:
            variable = self.variables[path]
            if is_pose(variable):
                return _elements_of_frame(variable)
            state = self._aliased_state(variable)
            if state is not None:
                index = variable.slot.offset - state.slot.offset
                state_path = f"{state.path}[{index}]" if state.shape else state.path
                return [Element(state._replace(description=variable.description), path, state_path, index)]
            indices: Iterable[int] = range(variable.slot.size)
        else:
            match = ELEMENT.match(path)
            assert match is not None, path
            variable, indices = self.variables[match["base"]], [int(match["index"])]
        return [
            Element(
                variable,
                element_name(variable.path, variable.shape, i),
                f"{variable.path}[{i}]" if variable.shape else variable.path,
                i,
            )
            for i in indices
        ]
