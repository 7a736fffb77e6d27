"""The base of classes that describe a kind of file in words."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from cosim import plugin_kind
from cosim.kit import AbstractClosedAttributes


@plugin_kind("describer")
class Describer(AbstractClosedAttributes):
    """Describes files of a kind, for ``cosim info``.

    A plugin registers the class; it is instantiated without arguments.

    Attributes
    ----------
    suffixes : tuple of str
        Endings of the files that it knows, in lower case, with the dot.
    what : str
        The kind of file in words: "a system (.ssp)".

    Examples
    --------
    >>> class Notes(Describer):
    ...     '''Counts the lines of notes.'''
    ...     suffixes, what = (".notes",), "notes (.notes)"
    ...     def describe(self, path): return f"{len(path.read_text('utf-8').splitlines())} lines"
    """

    suffixes: ClassVar[tuple[str, ...]]
    what: ClassVar[str]

    @abstractmethod
    def describe(self, path: Path) -> str:
        """The content of a file, in lines; `CosimError` if it is not such a file."""
