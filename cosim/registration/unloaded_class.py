"""Facts about a registered class before its module is imported."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from operator import attrgetter
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

from cosim.registration.kinds import kinds_of


class _LoadedClass(NamedTuple):
    """A class, and the module that it was taken from."""

    module: ModuleType
    cls: type[Any]


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

    _loaded: ClassVar[_LoadedClass | None] = None
    """What `load` of this object returned last: a model of many parts loads one class many times."""

    @classmethod
    def of(cls, loaded: type[Any]) -> UnloadedClass:
        """The record of a class that is imported already."""
        kinds = kinds_of(loaded)
        name, summary = (loaded.name, loaded.summary) if "command" in kinds else ("", "")
        suffixes, known_as = getattr(loaded, "suffixes", ()), vars(loaded).get("known_as", ())
        return cls(place_of(loaded), kinds, name, summary, tuple(suffixes), tuple(known_as))

    def load(self) -> type[Any]:
        """Import the module and take the class from it; whatever the import raises goes on."""
        module_name, _, name = self.target.partition(":")
        module = sys.modules.get(module_name)
        if self._loaded is not None and self._loaded.module is module:
            return self._loaded.cls
        if module is None:
            with folder_kept():
                module = importlib.import_module(module_name)
        cls = attrgetter(name)(module)
        if not isinstance(cls, type):
            raise AttributeError(f"{self.target} is not a class")
        object.__setattr__(self, "_loaded", _LoadedClass(module, cls))
        return cls


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
