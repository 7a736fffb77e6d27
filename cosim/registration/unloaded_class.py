"""Facts about a registered class before its module is imported."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from cosim.registration.kinds import kinds_of

LAST = "_last"
"""What `UnloadedClass.load` returned last, with its module: very many parts of a model are of one class."""


@dataclass(frozen=True)
class UnloadedClass:
    """A class by its place.

    Attributes
    ----------
    target : str
        ``module:qualified.name``.
    kinds : tuple of str
        The nearest first.
    name, summary : str
        What a command says of itself; empty for others.
    suffixes : tuple of str
        Endings of the files that it reads or writes.
    known_as : tuple of str
        Other words for it, in which a misspelt id is searched.
    """

    target: str
    kinds: tuple[str, ...] = ()
    name: str = ""
    summary: str = ""
    suffixes: tuple[str, ...] = ()
    known_as: tuple[str, ...] = ()

    @classmethod
    def of(cls, loaded: type[Any]) -> UnloadedClass:
        """The record of a class that is imported already."""
        kinds = kinds_of(loaded)
        name, summary = (loaded.name, loaded.summary) if "command" in kinds else ("", "")
        suffixes, known_as = getattr(loaded, "suffixes", ()), vars(loaded).get("known_as", ())
        return cls(place_of(loaded), kinds, name, summary, tuple(suffixes), tuple(known_as))

    def load(self) -> type[Any]:
        """Import the module and take the class from it; whatever the import raises goes on."""
        last_module, last_loaded, last_class = self.__dict__.get(LAST, (None, None, None))
        if last_loaded is not None and sys.modules.get(last_module) is last_loaded:
            return last_class
        module, _, name = self.target.partition(":")
        loaded: Any = sys.modules.get(module)
        if loaded is None:
            with folder_kept():
                loaded = importlib.import_module(module)
        from_module = loaded
        for attribute in name.split("."):
            loaded = getattr(loaded, attribute)
        if not isinstance(loaded, type):
            raise AttributeError(f"{self.target} is not a class")
        self.__dict__[LAST] = module, from_module, loaded
        return loaded


@contextmanager
def folder_kept() -> Iterator[None]:
    """Go back to the present folder, where code that is imported leaves it: relative paths are the user's."""
    try:
        folder = os.getcwd()
    except OSError:  # it has been removed
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            os.chdir(folder)


def place_of(loaded: type[Any]) -> str:
    """``module:qualified.name`` of a class."""
    return f"{loaded.__module__}:{loaded.__qualname__}"
