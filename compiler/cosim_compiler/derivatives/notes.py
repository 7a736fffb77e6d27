"""Notes on places where a derivative is incomplete."""

from __future__ import annotations

from typing import NamedTuple


class Note(NamedTuple):
    """A place where a derivative is incomplete: what changes there, and what the tangent is.

    Attributes
    ----------
    file : str
    line : int
    function : str
        Name of the kernel function or helper.
    text : str
        One sentence.
    """

    file: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.function}(): {self.text}"
