"""Numbers for the texts of a run, which the table of recorded rows contains."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

TABLED = ("string", "binary")
"""Types whose values become numbers of texts."""
LONGEST = 4096
"""The largest number of bytes that are recorded as they are."""


def text_of_bytes(data: bytes) -> str:
    """Hexadecimal digits of binary data; of long data the digest and the number of bytes.

    Examples
    --------
    >>> text_of_bytes(bytes([1, 171]))
    '01ab'
    >>> text_of_bytes(bytes(5000))
    'sha256:7ca5bd879f393d9dd05b14f38add9c0fc6b67928f7f2d261b2e47a32ee8219e3:5000'
    """
    if len(data) <= LONGEST:
        return bytes(data).hex()
    return f"sha256:{hashlib.sha256(data).hexdigest()}:{len(data)}"


class TextNumbers:
    """A number for each text; binary data become text first (`text_of_bytes`).

    Each text is stored once, since most text signals have few values. Characters that UTF-8 cannot encode
    (single surrogates) become question marks.

    Attributes
    ----------
    characters : int
        The length of all stored texts.

    Examples
    --------
    >>> numbers = TextNumbers()
    >>> row = [numbers.of("off"), numbers.of("on"), numbers.of("off")]
    >>> numbers.texts(np.array(row)).tolist()
    ['off', 'on', 'off']
    """

    def __init__(self) -> None:
        self._numbers: dict[str, float] = {}
        self._texts: dict[float, str] = {}
        self._next, self._reported, self.characters = 0.0, 0.0, 0

    def of(self, value: str | bytes) -> float:
        """The number of a text, or of the text of binary data."""
        text = value if isinstance(value, str) else text_of_bytes(value)
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = self._next
            self._texts[number] = text.encode("utf-8", "replace").decode("utf-8")
            self._next += 1.0
            self.characters += len(text)
        return number

    def texts(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        """The texts of numbers, an array of objects."""
        listed = np.empty(numbers.shape, dtype=object)
        listed[:] = [self._texts[number] for number in numbers.tolist()]
        return listed

    def retain(self, numbers: Iterable[float]) -> None:
        """Forget all texts but those with these numbers."""
        retained = set(numbers)
        self._numbers = {text: number for text, number in self._numbers.items() if number in retained}
        self._texts = {number: text for number, text in self._texts.items() if number in retained}
        self.characters = sum(map(len, self._texts.values()))

    def new_texts(self) -> dict[str, float]:
        """Texts since the last call, with their numbers."""
        count, self._reported = int(self._next - self._reported), self._next
        return dict([*self._numbers.items()][-count:]) if count else {}

    def add_texts(self, news: Mapping[str, float]) -> None:
        """Add texts with the numbers of another `TextNumbers`."""
        for text, number in news.items():
            self._next = number
            self.of(text)

    def memory(self) -> dict[str, Any]:
        """All texts that are kept, for `put_back`."""
        return {"numbers": dict(self._numbers), "texts": dict(self._texts), "next": self._next}

    def put_back(self, memory: Mapping[str, Any]) -> None:
        """Continue with the texts of another run."""
        self._numbers, self._texts = dict(memory["numbers"]), dict(memory["texts"])
        self._next, self.characters = memory["next"], sum(map(len, memory["texts"].values()))
