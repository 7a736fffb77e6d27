"""The variables of a system as those of a participant."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable, Variable

CONTINUOUS = ("position", "speed", "auxiliary")
STATES = (*CONTINUOUS, "discrete", "integer")


class SystemFeedthrough(Mapping[str, frozenset[str]]):
    """For each readable variable the inputs that it depends on directly; computed at the first look-up.

    Parameters
    ----------
    system : System
    paths : mapping of str to str
        For each name the path of the whole variable.
    inputs : mapping of str to sequence of str
        For each input of the system the names of its elements.
    """

    def __init__(
        self, system: cosim.System, paths: Mapping[str, str], inputs: Mapping[str, list[str]]
    ) -> None:
        self._system, self._paths, self._inputs = system, paths, inputs
        self._needs: dict[str, frozenset[str]] = {}

    def __getitem__(self, name: str) -> frozenset[str]:
        path = self._paths[name]
        if path not in self._needs:
            needs = self._system.direct_feedthrough(path)
            self._needs[path] = frozenset(e for whole in needs for e in self._inputs.get(whole, ()))
        return self._needs[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def type_of(variable: Variable) -> str:
    """The type of a participant's variable: "boolean" for a switch, "integer", "string" or "real"."""
    if variable.is_text:
        return "string"
    if variable.kind == "integer":  # a switch, too: its values are 0 and 1
        return "integer"
    return {bool: "boolean", int: "integer"}.get(variable.dtype, "real")


def value_of(variable: Variable, number: float) -> float | bool | str:
    """A number of the State as a value of the variable's type; a number that does not fit stays a float."""
    kind = type_of(variable)
    if kind == "real" or number != math.floor(number):
        return number
    if kind == "string":
        place = int(number) - 1
        return variable.words[place] if 0 <= place < len(variable.words) else number
    return bool(number) if kind == "boolean" and number in (0.0, 1.0) else int(number)


@dataclass
class _ShownVariables:
    """Scalars that a system shows; elements of arrays have names of their own.

    Attributes
    ----------
    variables : dict of str to ParticipantVariable
    arrays, enumerations : dict
        As in a `ParticipantDescription`.
    readable : dict of str to str
        For each scalar that can be read the path of the whole variable.
    inputs : dict of str to list of str
        For each input of the system its scalars.
    settable : set of str
    states : list of str
    """

    variables: dict[str, ParticipantVariable] = field(default_factory=dict)
    arrays: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = field(default_factory=dict)
    enumerations: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    readable: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, list[str]] = field(default_factory=dict)
    settable: set[str] = field(default_factory=set)
    states: list[str] = field(default_factory=list)

    def add(self, variable: Variable, causality: str) -> None:
        """Add the scalars of a variable of the system."""
        names = [variable.path]
        if variable.shape:
            names = [f"{variable.path}[{i}]" for i in range(variable.slot.size)]
            self.arrays[variable.path] = tuple(variable.shape), tuple(names)
        kind = type_of(variable)
        if variable.words and kind == "integer":
            items = tuple((word, i) for i, word in enumerate(variable.words, 1))
            self.enumerations |= dict.fromkeys(names, items)
        for i, name in enumerate(names):
            self.variables[name] = ParticipantVariable(
                name=name,
                causality=causality,
                type=kind,
                unit=variable.unit(i),
                start=value_of(variable, variable.start[i]) if variable.start else None,
                description=variable.description,
            )
        if causality in ("output", "local"):
            self.readable |= dict.fromkeys(names, variable.path)
        if causality in ("input", "parameter") or variable.kind in STATES:
            self.settable.update(names)
        if causality == "input":
            self.inputs[variable.path] = names
        if variable.kind in CONTINUOUS:
            self.states += names


def _causality(variable: Variable, free_inputs: set[str]) -> str:
    """The causality of a variable; "" for signals and for inputs that are connected inside."""
    if variable.path in free_inputs:
        return "input"
    if variable.kind in ("signal", "input"):
        return ""
    if variable.kind == "parameter":
        return "parameter"
    return "output" if variable.kind in ("output", "measure") else "local"


def describe_system(system: cosim.System) -> ParticipantDescription:
    """Scalars of a system under their own paths; elements of arrays count from 0 (``engine.X_GB[11]``).

    Outputs are the declared outputs and the measures; every other readable variable may be connected and
    recorded as well. Parameters, inputs and states take start values.
    """
    shown, free_inputs, discrete = _ShownVariables(), set(system.inputs), system.discrete_signals()
    for variable in system.variables.values():
        if causality := _causality(variable, free_inputs):
            shown.add(variable, causality)
    return ParticipantDescription(
        kind="cosim system",
        variables=shown.variables,
        feedthrough=SystemFeedthrough(system, shown.readable, shown.inputs),
        can_restore=all(part.goes_back for part in system.parts.values()),
        can_serialize=not any(part.not_saved for part in system.parts.values()),
        steps_in_threads=True,
        follows_slopes=True,
        settable=frozenset(shown.settable),
        tunable=frozenset(n for n, v in shown.variables.items() if v.causality == "parameter"),
        readable=frozenset(shown.readable),
        discrete=frozenset(name for name, path in shown.readable.items() if path in discrete),
        arrays=shown.arrays,
        states=tuple(shown.states),
        enumerations=shown.enumerations,
    )
