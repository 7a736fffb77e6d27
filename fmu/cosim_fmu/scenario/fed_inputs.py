"""Values over time beside a scenario, for inputs that nothing feeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim_master.coupling.connection import Connection
from cosim_master.participants.timed_inputs import TimedInputs

NAME = "inputs"
"""Of the participant that gives the values."""
WHOLE = ("integer", "boolean")


def fed_inputs(
    series: Any, participants: Mapping[str, cosim.Participant]
) -> tuple[TimedInputs, list[Connection]]:
    """A participant that gives these values, and its connections.

    Parameters
    ----------
    series : path, Result, mapping or TimedInputs
        Its signals have the names of inputs: ``"plant.force"``.
    participants : mapping of str to Participant

    Raises
    ------
    ModelError
        A signal that is called as no variable; another participant has the name `NAME`.
    CosimError
        The file cannot be read.
    """
    if NAME in participants:
        text = f"is the name of what gives them: choose another for [participants.{NAME}]"
        raise cosim.ModelError.of(NAME, text)
    given = series if isinstance(series, TimedInputs) else TimedInputs(series)
    types: dict[str, str] = {}
    problems = []
    for path in given.describe().variables:
        name, _, variable = path.partition(".")
        if name not in participants:
            problems.append(cosim.Problem(NAME, str(cosim.LookUpError("participant", name, participants))))
            continue
        variables = participants[name].describe().variables
        if variable not in variables:
            inputs = [n for n, v in variables.items() if v.causality == "input"]
            problems.append(cosim.Problem(NAME, str(cosim.LookUpError(f"input of {name}", variable, inputs))))
        elif variables[variable].type in WHOLE:
            types[path] = variables[variable].type
    if problems:
        raise cosim.ModelError(problems)
    connections = [Connection(f"{NAME}.{path}", path) for path in given.describe().variables]
    return (given if isinstance(series, TimedInputs) else TimedInputs(series, types=types)), connections
