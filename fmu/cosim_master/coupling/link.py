"""A connection that has been checked."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Link:
    """From an output of one participant to an input of another, or of the same one.

    Attributes
    ----------
    source, output, target, input : str
        ``source.output`` is written to ``target.input``.
    factor, offset : float
        value in the input's unit = factor * value in the output's unit + offset; the transformation of the
        connection is in it.
    widens : type or None
        What a number becomes when the input is of another type: float for an integer that feeds a real input,
        int for a boolean that feeds an integer one; bool for a mapped integer that feeds a boolean one.
    table : mapping of object to object or None
        What values of booleans, integers and enumerations become; others stay as they are. It comes before
        factor and offset.
    """

    source: str
    output: str
    target: str
    input: str
    factor: float = 1.0
    offset: float = 0.0
    widens: type | None = None
    table: Mapping[Any, Any] | None = field(default=None, hash=False)

    @property
    def start(self) -> tuple[str, str]:
        """Participant and output."""
        return self.source, self.output

    @property
    def end(self) -> tuple[str, str]:
        """Participant and input."""
        return self.target, self.input

    def convert(self, value: Any) -> Any:
        """The value that the input gets; an integer that is no boolean stays one (`fault`)."""
        if self.table is not None:
            value = self.table.get(value, value)
        if self.factor != 1.0 or self.offset != 0.0:
            return self.factor * value + self.offset
        if self.widens is None or (self.widens is bool and value not in (0, 1)):
            return value
        return self.widens(value)

    def fault(self, value: Any) -> str:
        """Why a converted value is not passed on, as a sentence; empty when it is."""
        if isinstance(value, float) and not math.isfinite(value):
            return f"{self.output} is {value}: not passed on to {self.target}.{self.input}"
        if self.widens is bool and not isinstance(value, bool):
            end = f"{self.target}.{self.input}"
            number = int(value) if value == int(value) else value
            return f"{self.output} becomes {number}, but {end} is boolean: map it to false or true"
        return ""

    def __str__(self) -> str:
        return f"{self.source}.{self.output} → {self.target}.{self.input}"


def links_from(links: Iterable[Link]) -> Mapping[str, list[Link]]:
    """The links that begin at each participant, in their order; none for one that is not there."""
    found: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        found[link.source].append(link)
    return found


def links_into(links: Iterable[Link]) -> Mapping[str, list[Link]]:
    """The links that end at each participant, in their order; none for one that is not there."""
    found: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        found[link.target].append(link)
    return found
