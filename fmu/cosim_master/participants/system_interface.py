"""What a system of ours shows to a co-simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable, Variable

CONTINUOUS = ("position", "speed", "auxiliary")
STATES = (*CONTINUOUS, "discrete", "integer")


class SystemFeedthrough(Mapping[str, frozenset[str]]):
    """For each readable variable the inputs that it depends on directly; found when it is read.

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
        self._found: dict[str, frozenset[str]] = {}

    def __getitem__(self, name: str) -> frozenset[str]:
        path = self._paths[name]
        if path not in self._found:
            needs = self._system.direct_feedthrough(path)
            self._found[path] = frozenset(e for whole in needs for e in self._inputs.get(whole, ()))
        return self._found[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def type_of(variable: Variable) -> str:
    """The type of a participant's variable: a port or parameter that is a switch, a whole number, text."""
    if variable.is_text:
        return "string"
    if variable.kind == "integer":  # a switch, too: its values are 0 and 1
        return "integer"
    return {bool: "boolean", int: "integer"}.get(variable.dtype, "real")


def value_of(variable: Variable, number: float) -> float | bool | str:
    """A number of the State as a value of that type; one that its type does not have stays a number."""
    kind = type_of(variable)
    if kind == "real" or number != math.floor(number):
        return number
    if kind == "string":
        place = int(number) - 1
        return variable.words[place] if 0 <= place < len(variable.words) else number
    return bool(number) if kind == "boolean" and number in (0.0, 1.0) else int(number)


def describe_system(system: cosim.System) -> ParticipantDescription:
    """Scalars of a system under their own paths; elements of arrays count from 0 (``engine.X_GB[11]``).

    Outputs are the declared outputs and the measures; every other readable variable may be connected and
    recorded as well. Parameters, inputs and states take start values.
    """
    variables: dict[str, ParticipantVariable] = {}
    arrays: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {}
    readable: dict[str, str] = {}
    inputs: dict[str, list[str]] = {}
    enumerations: dict[str, tuple[tuple[str, int], ...]] = {}
    settable, states = set(), list[str]()
    free, discrete = set(system.inputs), system.discrete_signals()
    for variable in system.variables.values():
        if variable.kind == "signal" or (variable.kind == "input" and variable.path not in free):
            continue
        causality = "local"
        if variable.path in free:
            causality = "input"
        elif variable.kind == "parameter":
            causality = "parameter"
        elif variable.kind in ("output", "measure"):
            causality = "output"
        size = variable.slot.size
        names = [f"{variable.path}[{i}]" for i in range(size)] if variable.shape else [variable.path]
        if variable.shape:
            arrays[variable.path] = tuple(variable.shape), tuple(names)
        kind = type_of(variable)
        if variable.words and kind == "integer":
            enumerations |= dict.fromkeys(names, tuple((word, i) for i, word in enumerate(variable.words, 1)))
        for i, name in enumerate(names):
            start = value_of(variable, variable.start[i]) if variable.start else None
            variables[name] = ParticipantVariable(
                name=name,
                causality=causality,
                type=kind,
                unit=variable.unit(i),
                start=start,
                description=variable.description,
            )
            if causality in ("output", "local"):
                readable[name] = variable.path
            if causality in ("input", "parameter") or variable.kind in STATES:
                settable.add(name)
        if causality == "input":
            inputs[variable.path] = names
        if variable.kind in CONTINUOUS:
            states += names
    return ParticipantDescription(
        kind="cosim system",
        variables=variables,
        feedthrough=SystemFeedthrough(system, readable, inputs),
        can_restore=all(part.goes_back for part in system.parts.values()),
        can_serialize=not any(part.not_saved for part in system.parts.values()),
        steps_in_threads=True,
        follows_slopes=True,
        settable=frozenset(settable),
        tunable=frozenset(n for n, v in variables.items() if v.causality == "parameter"),
        readable=frozenset(readable),
        discrete=frozenset(name for name, path in readable.items() if path in discrete),
        arrays=arrays,
        states=tuple(states),
        enumerations=enumerations,
    )
