"""What the user says about the feedthrough of a participant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.feedthrough import with_causality, with_feedthrough

NONE = "none"


def override_feedthrough(description: ParticipantDescription, said: Any) -> ParticipantDescription:
    """The description with what the user says instead of what the participant declares.

    Parameters
    ----------
    description : ParticipantDescription
    said : object
        ``"none"``: no output depends directly on an input; ``{"y": ["u"]}``: for each output that is named
        the inputs that it depends on directly, [] for none. Arrays may be named as a whole.

    Raises
    ------
    ValueError
        With a sentence that says what is needed.
    """
    inputs = with_causality(description, "input")
    readable = [*with_causality(description, "output"), *description.readable]
    if said == NONE:
        given: dict[str, frozenset[str]] = dict.fromkeys(readable, frozenset())
    elif isinstance(said, Mapping):
        given = {}
        for output, needs in said.items():
            listed = isinstance(needs, (list, tuple, set, frozenset))
            if not listed or not all(isinstance(name, str) for name in needs):
                raise ValueError(f'{output} is {needs!r}, needs a list of inputs: {{ y = ["u"] }}')
            needed = [e for name in needs for e in _elements(description, "input", name, inputs)]
            for element in _elements(description, "output", str(output), readable):
                given[element] = frozenset(needed)
    else:
        raise ValueError(f'is {said!r}, needs "none", or inputs by outputs: {{ y = ["u"] }}')
    return with_feedthrough(description, given)


def _elements(description: ParticipantDescription, what: str, name: str, known: list[str]) -> tuple[str, ...]:
    if name in description.arrays:
        return tuple(description.arrays[name][1])
    if name not in known:
        raise ValueError(str(cosim.LookUpError(what, name, known)))
    return (name,)
