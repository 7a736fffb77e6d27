"""ValueNumbers: the numbers that stand for values of all types in the arrays of the interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cosim.kit import black_box
from cosim_master.recording.text_numbers import TABLED


class ValueNumbers:
    """Integers and booleans are whole numbers; texts and binary data get a number each.

    Attributes
    ----------
    size : int
        Characters and bytes of all that have a number.

    Examples
    --------
    >>> numbers = ValueNumbers()
    >>> numbers.of("boolean", True), numbers.of("string", "on"), numbers.of("string", "off")
    (1.0, 0.0, 1.0)
    >>> numbers.value("string", 0.0), numbers.value("integer", 3.0), numbers.value("real", 0.5)
    ('on', 3, 0.5)
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, float] = {}
        self._values: dict[float, Any] = {}
        self._next, self.size = 0.0, 0

    def of(self, kind: str, value: Any) -> float:
        """The number of a value of a type; what is not a number is a `TypeError` or `ValueError`."""
        if kind not in TABLED:
            return float(value)
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = self._next
            self._values[number] = value
            self._next += 1.0
            self.size += len(value)
            if black_box.box is not None and isinstance(value, str | bytes):
                black_box.box.write(("value", (number, value), {}))
        return number

    def value(self, kind: str, number: float) -> Any:
        """The value of a number; one that its type does not take stays a number."""
        if kind in TABLED:
            return self._values[number]
        if kind == "integer" and number.is_integer():
            return int(number)
        if kind in ("boolean", "clock") and number in (0.0, 1.0):
            return bool(number)
        return number

    def all_of(self, kinds: Sequence[str], values: Iterable[Any]) -> list[float]:
        """The numbers of several values."""
        return [self.of(kind, value) for kind, value in zip(kinds, values, strict=True)]

    def values(self, kinds: Sequence[str], numbers: Iterable[float]) -> list[Any]:
        """The values of several numbers."""
        return [self.value(kind, float(number)) for kind, number in zip(kinds, numbers, strict=True)]

    def retain(self, numbers: Iterable[float]) -> None:
        """Forget all values of the table but those with these numbers."""
        retained = set(numbers)
        self._values = {number: value for number, value in self._values.items() if number in retained}
        self._numbers = {value: number for number, value in self._values.items()}
        self.size = sum(map(len, self._numbers))
