"""A check of the parameters of a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
