"""Notes on derivatives: that there is none, or where one is incomplete."""

from __future__ import annotations

from typing import NamedTuple


class NoTangentError(Exception):
    """A function has no tangent that can be followed; the text says why and where."""


class Note(NamedTuple):
    """A place where a derivative does not say all: what changes there, and what the tangent is."""

    file: str
    line: int
    function: str
    text: str

    def __str__(note) -> str:
        return f"{note.file}:{note.line}: {note.function}(): {note.text}"
