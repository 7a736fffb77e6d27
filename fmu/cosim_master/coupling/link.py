"""A checked connection between two variables, and the conversion of the values that it passes on."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNCHECKED, ONLY_BOOLEANS, ONLY_EXACT = range(3)
"""Values of `Link.check`: which values an input refuses."""
EXACT = 2.0**53
"""The first integer whose successor is not a real number."""


@dataclass(frozen=True)
class Link:
    """From an output of one participant to an input of another, or of the same one.

    Attributes
    ----------
    source, output, target, input : str
        ``source.output`` is written to ``target.input``.
    factor, offset : float
        value in the input's unit = factor * value in the output's unit + offset. Both contain the
        transformation of the connection.
    kind : type
        The type of the input: float, int or bool; with any other type values are passed on unchanged.
    table : mapping of object to object or None
        Values of booleans, integers and enumerations with their replacements, before factor and offset;
        values without one are passed on.
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
        """The value that the input gets; it stays a float if the input has no such value (`fault`)."""
        if self.kind not in (float, int, bool):
            return value
        number = float(convert_value(float(value), self._pairs, self.factor, self.offset))
        if self.kind is bool and number in (0.0, 1.0):
            return bool(number)
        return int(number) if self.kind is not float and number.is_integer() else number

    @property
    def check(self) -> int:
        """Which finite values `fault` refuses: `UNCHECKED` (none), `ONLY_BOOLEANS` or `ONLY_EXACT`."""
        if self.kind is bool and self.table is not None:
            return ONLY_BOOLEANS
        return ONLY_EXACT if self.kind is int else UNCHECKED

    @cached_property
    def _pairs(self) -> NDArray[np.float64]:
        return np.array(self.pairs, dtype=np.float64)

    @property
    def pairs(self) -> list[float]:
        """The values of the table as numbers, each followed by its replacement."""
        return [float(number) for pair in (self.table or {}).items() for number in pair]

    def add_conversion(self, scales: list[float], pairs: list[float]) -> tuple[int, int]:
        """Append factor and offset, and the pairs of the table, to those of other links (`convert_value`).

        Returns
        -------
        (int, int)
            The place of the first pair among all pairs, and the number of pairs of this link.
        """
        first = len(pairs) // 2
        scales += self.factor, self.offset
        pairs += self.pairs
        return first, len(self.pairs) // 2

    def fault(self, value: Any) -> str:
        """Why a converted value is not passed on, as a sentence; empty when it is."""
        if isinstance(value, float) and not math.isfinite(value):
            return f"{self.output} is {value}: not passed on to {self.target}.{self.input}"
        if self.check == ONLY_EXACT and abs(value) >= EXACT:
            reason = "from 2**53 on integers are not exact among reals, and are not passed on"
            return f"{self.output} becomes {value:.0f}: {reason}"
        if self.check == ONLY_BOOLEANS and not isinstance(value, bool):
            end = f"{self.target}.{self.input}"
            number = int(value) if value == int(value) else value
            return f"{self.output} becomes {number}, but {end} is boolean: map it to false or true"
        return ""

    def __str__(self) -> str:
        return f"{self.source}.{self.output} → {self.target}.{self.input}"


def links_from(links: Iterable[Link]) -> Mapping[str, list[Link]]:
    """The links that begin at each participant, in their order; an empty list for one without links."""
    by_source: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        by_source[link.source].append(link)
    return by_source


def links_into(links: Iterable[Link]) -> Mapping[str, list[Link]]:
    """The links that end at each participant, in their order; an empty list for one without links."""
    by_target: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        by_target[link.target].append(link)
    return by_target


def convert_value(value, pairs, factor, offset):
    """Map the value of an output, then scale it: a kernel function.

    Parameters
    ----------
    value : float
    pairs : ndarray, shape (2 * n,)
        Values, each followed by its replacement; values without one stay as they are.
    factor, offset : float
    """
    for i in range(pairs.shape[0] // 2):
        if pairs[2 * i] == value:
            value = pairs[2 * i + 1]
            break
    if factor != 1.0 or offset != 0.0:
        value = factor * value + offset
    return value
