"""A registry that records which classes a model uses."""

from __future__ import annotations

import cosim
from cosim.kit import RegisteredClass, Registry
from cosim_export.python_fmu.typed_class import TYPED, TypedClass


class RecordingRegistry(Registry):
    """A registry with the entries of another one, which records the entries that were looked up.

    A component class that no plugin has registered gets an entry under the name of its module, from which
    another process must be able to import it. A class that was typed into a notebook or a script gets a new
    module (`TypedClass`), which exists until `close`.

    Parameters
    ----------
    base : Registry

    Attributes
    ----------
    used : dict of (str, str) to RegisteredClass
        By kind and id.
    """

    def __init__(self, base: Registry) -> None:
        super().__init__(base.plugins)
        self.used: dict[tuple[str, str], RegisteredClass] = {}
        self._unregistered: dict[str, RegisteredClass] = {}
        self._typed: dict[type, TypedClass] = {}

    def close(self) -> None:
        """Remove the modules of classes that were typed."""
        for typed in self._typed.values():
            typed.close()

    def entry(self, kind: str, id: str) -> RegisteredClass:
        """The entry, which is recorded."""
        entry = self._unregistered.get(id) if kind == "component" else None
        entry = entry or super().entry(kind, id)
        self.used[kind, id] = entry
        return entry

    def owner(self, cls: type) -> RegisteredClass:
        """The entry of a class; a new one for a component class that no plugin has registered."""
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
        entry = RegisteredClass(name, cls, "", "", "")
        self._unregistered[name] = entry
        return entry
