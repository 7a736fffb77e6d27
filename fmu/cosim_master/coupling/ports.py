"""Ports of a coupling: the variable that a path names, or the fault of the path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable

Descriptions = Mapping[str, ParticipantDescription]
MOST_EXAMPLES = 12
"""Names that a message lists at most."""


def find_port(
    descriptions: Descriptions, unknown: Sequence[str], path: str, role: str
) -> tuple[ParticipantVariable | None, str]:
    """The variable of a path ``participant.variable``, or None and a sentence about the fault.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    unknown : sequence of str
        Participants whose description could not be read: their variables have no fault.
    path : str
    role : str
        The required kind of variable: "input", "output", "parameter" (a parameter with a connection),
        "calculated" (a parameter or a calculated parameter), or "" for any.
    """
    name, dot, variable = path.partition(".")
    if name in unknown:
        return None, ""
    if not dot or not variable:
        return None, f"is '{path}', needs participant.variable: 'plant.felt'"
    if name not in descriptions:
        return None, str(cosim.LookUpError("participant", name, [*descriptions, *unknown]))
    description = descriptions[name]
    if variable not in description.variables:
        return None, _unknown_variable(description, name, variable, role)
    fault = _role_fault(description, name, variable, role)
    return (None, fault) if fault else (description.variables[variable], "")


def _unknown_variable(description: ParticipantDescription, name: str, variable: str, role: str) -> str:
    """A sentence about a variable that does not exist."""
    if variable in description.arrays:
        _, elements = description.arrays[variable]
        example = elements[0] if elements else "it has none"
        return f"{name}.{variable} is an array: name one of its elements, {example} …"
    variables = description.variables
    fitting = [v.name for v in variables.values() if role in ("", v.causality)]
    return str(cosim.LookUpError(f"{role or 'variable'} of {name}", variable, fitting or variables))


def _role_fault(description: ParticipantDescription, name: str, variable: str, role: str) -> str:
    """Why a variable cannot have a role; "" if it can."""
    path, causality = f"{name}.{variable}", description.variables[variable].causality
    if role == "calculated":
        if causality == "parameter" or variable in description.calculated:
            return ""
        return f"{path} is {with_article(causality)}, but a parameter gets its value once, from a parameter"
    if role == "parameter" and variable in description.structural:
        return f"{path} decides the sizes of arrays: give it a start value instead of a connection"
    if role == "output" and variable in description.readable:
        return ""
    if role and (reason := description.refused.get(variable)):
        return f"{path} cannot be connected: {reason}"
    if role in ("", causality):
        return ""
    fitting = [v.name for v in description.variables.values() if v.causality == role]
    examples = ", ".join(fitting[:MOST_EXAMPLES]) + (" …" if len(fitting) > MOST_EXAMPLES else "")
    hint = f"{role.capitalize()}s of {name}: {examples}" if fitting else "There are none"
    return f"{path} is {with_article(causality)}, needs {with_article(role)}. {hint}."


def with_article(causality: str) -> str:
    """``an input``, ``a parameter``."""
    return f"an {causality}" if causality[:1] in "aeiou" else f"a {causality}"
