"""A connection that has been checked."""

from __future__ import annotations

from collections.abc import Mapping
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
        What a number becomes when the input is of a wider type: float for an integer that feeds a real input,
        int for a boolean that feeds an integer one.
    table : mapping of object to object or None
        What values of booleans, integers and enumerations become; others stay as they are.
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
        """The value that the input gets."""
        if self.factor != 1.0 or self.offset != 0.0:
            return self.factor * value + self.offset
        if self.table is not None:
            value = self.table.get(value, value)
        return value if self.widens is None else self.widens(value)

    def __str__(self) -> str:
        return f"{self.source}.{self.output} → {self.target}.{self.input}"
