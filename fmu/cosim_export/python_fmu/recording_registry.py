"""Which registered classes a model really uses."""

from __future__ import annotations

import cosim
from cosim.kit import Entry, Registry
from cosim_export.python_fmu.typed_class import TYPED, TypedClass


class RecordingRegistry(Registry):
    """A registry with the entries of another one, which remembers what was looked up in it.

    A component class that no plugin registered is known by where it is defined, as long as another
    process can import it from there; one that was typed into a notebook or a script gets a module
    (`TypedClass`), which is there until `close`.

    Parameters
    ----------
    base : Registry

    Attributes
    ----------
    used : dict of (str, str) to Entry
        By kind and id.
    """

    def __init__(self, base: Registry) -> None:
        super().__init__(base.plugins)
        self.used: dict[tuple[str, str], Entry] = {}
        self._unregistered: dict[str, Entry] = {}
        self._typed: dict[type, TypedClass] = {}

    def close(self) -> None:
        """Forget the modules of classes that were typed."""
        for typed in self._typed.values():
            typed.close()

    def entry(self, kind: str, id: str) -> Entry:
        """The entry, which is remembered."""
        entry = self._unregistered.get(id) if kind == "component" else None
        entry = entry or super().entry(kind, id)
        self.used[kind, id] = entry
        return entry

    def owner(self, cls: type) -> Entry:
        """The entry of a class, made up for a component class that no plugin registered."""
        registered = self.registered(cls)
        if registered is not None or not issubclass(cls, cosim.Component):
            return registered or super().owner(cls)
        name = f"{cls.__module__}:{cls.__qualname__}"
        if "." in cls.__qualname__:
            text = (
                "the class is defined in a function or in a class, where another process cannot import it: "
                "define it at the top of a module."
            )
            raise cosim.ModelError.of(name, text)
        if cls.__module__ == TYPED:
            typed = self._typed.get(cls) or TypedClass(cls)
            self._typed[cls], cls = typed, typed.cls
            name = f"{cls.__module__}:{cls.__qualname__}"
        entry = Entry(name, cls, "", "", "")
        self._unregistered[name] = entry
        return entry
