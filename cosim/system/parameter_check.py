"""Checks of the parameters of parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cosim.component.component import Component
from cosim.system.blocks import Slot


@dataclass(frozen=True)
class ParameterCheck:
    """Says whether parameters of one part fit together: a kernel function with `refuses`.

    Attributes
    ----------
    part, name : str
        Of the part, and of the kernel function.
    slot : Slot
        Where in the cache it leaves its answers, one for each element: 0, or the number of a sentence.
    reads : tuple of Slot
        The parameters that it reads.
    sentences : tuple of str
        What is wrong, by number from 1.
    """

    part: str
    name: str
    slot: Slot
    reads: tuple[Slot, ...]
    sentences: tuple[str, ...]

    def sentence(self, cache: Any) -> str:
        """The message of the check after its evaluation; empty where the values are right."""
        for at in self.slot.elements:
            number = int(cache[at])
            if 1 <= number <= len(self.sentences):
                return self.sentences[number - 1]
        return ""


def list_checks(
    parts: Mapping[str, Component], slots: Mapping[str, Mapping[str, Slot]]
) -> list[ParameterCheck]:
    """The checks of parameters, in order of parts, then of declaration.

    Parameters
    ----------
    parts : mapping of str to Component
    slots : mapping of str to mapping of str to Slot
        Of each part, by name.
    """
    checks = []
    for name, part in parts.items():
        slot_of = slots[name]
        for check, kernel in part.kernels.items():
            if kernel.role == "check" and check in slot_of:
                read = [slot_of[a.name] for a in part.arguments[check] if a.name in slot_of]
                parameters = tuple(slot for slot in read if slot.array == "p")
                checks.append(ParameterCheck(name, check, slot_of[check], parameters, kernel.refuses))
    return checks
