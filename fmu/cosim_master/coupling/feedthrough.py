"""The inputs that the outputs of a participant depend on directly."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.link import Link

NONE = "none"
"""The user's word for a participant whose outputs depend directly on no input."""


def direct_inputs(
    description: ParticipantDescription, output: str, *, initializing: bool = False
) -> frozenset[str]:
    """Inputs on which an output depends directly; all inputs if the participant declares nothing.

    The dependencies in initialization mode may differ from those in a run.
    """
    initial: Mapping[str, frozenset[str]] = description.initial_feedthrough
    if initializing and output in initial:
        return initial[output]
    if description.feedthrough is not None and output in description.feedthrough:
        return description.feedthrough[output]
    return frozenset(with_causality(description, "input"))


def with_causality(description: ParticipantDescription, causality: str) -> list[str]:
    """The names of the variables with a causality: "input", "output"."""
    return [name for name, v in description.variables.items() if v.causality == causality]


def with_feedthrough(
    description: ParticipantDescription, inputs_of: Mapping[str, frozenset[str]]
) -> ParticipantDescription:
    """The description with the inputs that these outputs depend on directly."""
    outputs = with_causality(description, "output")
    assumed = description.assumed_feedthrough if description.feedthrough is not None else frozenset(outputs)
    return replace(
        description,
        feedthrough={
            **dict.fromkeys(outputs, frozenset(with_causality(description, "input"))),
            **(description.feedthrough or {}),
            **inputs_of,
        },
        assumed_feedthrough=assumed - inputs_of.keys(),
        possible_feedthrough=description.possible_feedthrough - inputs_of.keys(),
    )


def is_assumed(description: ParticipantDescription, output: str) -> bool:
    """Whether the dependencies of an output are not known but taken to be all inputs."""
    unknown = description.feedthrough is None or output not in description.feedthrough
    return unknown or output in description.assumed_feedthrough


def passes_through(description: ParticipantDescription, into: Sequence[Link], out_of: Sequence[Link]) -> bool:
    """Whether an output of a participant may depend directly on an input of it that is connected.

    Parameters
    ----------
    description : ParticipantDescription
    into, out_of : sequence of Link
        The links that end at the participant, and those that begin there.
    """
    connected = {link.input for link in into}
    if not connected:
        return False
    outputs = with_causality(description, "output")
    outputs += [link.output for link in out_of]
    return any(direct_inputs(description, output) & connected for output in outputs)


def override_feedthroughs(
    descriptions: dict[str, ParticipantDescription],
    participants: Collection[str],
    overrides: Mapping[str, Any],
) -> list[WiringProblem]:
    """Write the user's declarations of feedthrough into the descriptions; a problem for each wrong one."""
    problems = []
    for name, override in overrides.items():
        if name not in participants:
            text = str(cosim.LookUpError("participant", name, participants))
            problems.append(problem(("participants", name), text))
        elif name in descriptions:
            try:
                descriptions[name] = override_feedthrough(descriptions[name], override)
            except ValueError as error:
                problems.append(problem(("participants", name, "feedthrough"), str(error)))
    return problems


def override_feedthrough(description: ParticipantDescription, override: Any) -> ParticipantDescription:
    """The description with the user's declarations in place of the participant's.

    Parameters
    ----------
    description : ParticipantDescription
    override : object
        ``"none"``: no output depends directly on an input; ``{"y": ["u"]}``: for each named output the inputs
        on which it depends directly, [] for none. The name of an array stands for all its elements.

    Raises
    ------
    ValueError
        With a sentence that says what is needed.
    """
    inputs = with_causality(description, "input")
    readable = [*with_causality(description, "output"), *description.readable]
    if override == NONE:
        inputs_of: dict[str, frozenset[str]] = dict.fromkeys(readable, frozenset())
    elif isinstance(override, Mapping):
        inputs_of = {}
        for output, needs in override.items():
            is_list = isinstance(needs, (list, tuple, set, frozenset))
            if not is_list or not all(isinstance(name, str) for name in needs):
                raise ValueError(f'{output} is {needs!r}, needs a list of inputs: {{ y = ["u"] }}')
            needed = [e for name in needs for e in _elements(description, "input", name, inputs)]
            for element in _elements(description, "output", str(output), readable):
                inputs_of[element] = frozenset(needed)
    else:
        raise ValueError(f'is {override!r}, needs "none", or inputs by outputs: {{ y = ["u"] }}')
    return with_feedthrough(description, inputs_of)


def _elements(description: ParticipantDescription, role: str, name: str, names: list[str]) -> tuple[str, ...]:
    """The variable of a name, or the elements of an array; `ValueError` if there is none."""
    if name in description.arrays:
        return tuple(description.arrays[name][1])
    if name not in names:
        raise ValueError(str(cosim.LookUpError(role, name, names)))
    return (name,)
