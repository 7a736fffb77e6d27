"""A connection that has been checked."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim_master.coupling.convert_value import convert_value


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
    kind : type
        Of the values that the input takes: float, int, bool; any other for what is passed on as it is.
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
    kind: type = float
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
        """The value that the input gets; what its type does not take stays a number (`fault`)."""
        if self.kind not in (float, int, bool):
            return value
        number = float(convert_value(float(value), self._pairs, self.factor, self.offset))
        if self.kind is bool and number in (0.0, 1.0):
            return bool(number)
        return int(number) if self.kind is not float and number.is_integer() else number

    @property
    def is_checked(self) -> bool:
        """Whether a boolean input may get what is no boolean."""
        return self.kind is bool and self.table is not None

    @cached_property
    def _pairs(self) -> NDArray[np.float64]:
        return np.array(self.pairs, dtype=np.float64)

    @property
    def pairs(self) -> list[float]:
        """Values of the table, each with what it becomes, as numbers."""
        return [float(number) for pair in (self.table or {}).items() for number in pair]

    def fault(self, value: Any) -> str:
        """Why a converted value is not passed on, as a sentence; empty when it is."""
        if isinstance(value, float) and not math.isfinite(value):
            return f"{self.output} is {value}: not passed on to {self.target}.{self.input}"
        if self.is_checked and not isinstance(value, bool):
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
