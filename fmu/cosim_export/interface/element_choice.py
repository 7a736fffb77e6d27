"""Chooses variables of a system by paths and patterns, and takes them apart into scalars."""

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
    """A scalar of a variable of the system."""

    variable: Variable
    name: str
    path: str
    index: int
    angle: int | None = None


def _elements_of_frame(variable: Variable) -> list[Element]:
    """Position and angles in place of twelve numbers that go together."""
    place = [
        Element(variable, f"{variable.path}.position[{i + 1}]", f"{variable.path}[{9 + i}]", 9 + i)
        for i in range(3)
    ]
    return place + [
        Element(variable, f"{variable.path}.angles[{i + 1}]", variable.path, 0, i) for i in range(3)
    ]


@dataclass
class ElementChoice:
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

    def elements(self, path: str) -> list[Element]:
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
                return [Element(state._replace(description=text), path, raw, index)]
        else:
            match = ELEMENT.match(path)
            assert match is not None, path
            variable, only = self.variables[match["base"]], int(match["index"])
        indices = range(variable.slot.size) if only is None else [only]
        return [
            Element(
                variable,
                element_name(variable.path, variable.shape, i),
                f"{variable.path}[{i}]" if variable.shape else variable.path,
                i,
            )
            for i in indices
        ]
