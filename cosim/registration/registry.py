"""The registrations of the installed plugins."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from cosim.errors import LookUpError, nearest
from cosim.registration.kinds import declared_kinds
from cosim.registration.plugin_index import installed_plugins
from cosim.registration.plugin_loader import discover
from cosim.registration.plugin_record import PluginRecord, Refusal, RegisteredClass
from cosim.registration.unloaded_class import UnloadedClass, place_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Registry", "registry", "use_registry"]


class Registry:
    """All registered classes, by kind and id.

    The kinds are those of the base classes (`cosim.plugin_kind`): "component", "integrator", "command" …, and
    what is of one kind is of the kinds of its bases too: a measure is a component.

    Parameters
    ----------
    plugins : iterable of PluginRecord
        Loaded, failed and skipped ones, see `Registry.discover` and `Registry.from_manifest`.
    """

    def __init__(self, plugins: Iterable[PluginRecord]) -> None:
        self.plugins = sorted(plugins, key=lambda record: (record.name, record.distribution))
        self._entries: dict[str, dict[str, RegisteredClass]] = {}
        self._by_synonym: dict[str, dict[str, list[str]]] = {}
        for record in self.plugins:
            for entry in record.entries:
                for kind in entry.kinds:
                    self._entries.setdefault(kind, {})[entry.id] = entry

    @classmethod
    def discover(
        cls, candidates: Iterable[EntryPoint] | None = None, only: Iterable[str] | None = None
    ) -> Registry:
        """Load the installed plugins, or `only` those named; see `plugin_loader.discover`."""
        return cls(discover(candidates, only))

    @classmethod
    def from_manifest(cls, rows: Iterable[Mapping[str, str]]) -> Registry:
        """A registry of exactly the entries that a manifest lists, without any discovery.

        Parameters
        ----------
        rows : iterable of mapping
            As `RegisteredClass.to_dict` writes them.

        Raises
        ------
        PluginError
            When a class cannot be imported; it names the plugin, its distribution and version.
        """
        plugins: dict[tuple[str, str, str], list[RegisteredClass]] = {}
        for row in rows:
            owner = (row["plugin"], row["distribution"], row["version"])
            entry = RegisteredClass(row["id"], UnloadedClass(row["target"]), *owner)
            # `entry.cls` imports the class: what is missing shows now, and not in the middle of a run
            plugins.setdefault(owner, []).append(RegisteredClass(row["id"], entry.cls, *owner))
        return cls(
            PluginRecord(*owner, "manifest", "loaded", None, tuple(entries))
            for owner, entries in plugins.items()
        )

    def get(self, kind: str, id: str) -> type[Any]:
        """The class that is registered under an id, or under its last word where only one has it.

        Raises
        ------
        LookUpError
            With the nearest id, and which plugin failed to load and why.
        """
        return self.entry(kind, id).cls

    def entry(self, kind: str, id: str) -> RegisteredClass:
        """The class with its owner; raises `LookUpError` as `get` does."""
        entries = self._of_kind(kind)
        if id not in entries:
            matching_ids = [key for key in entries if key.rpartition(".")[2] == id]
            if len(matching_ids) == 1:
                return entries[matching_ids[0]]
            # What other plugins have is no help when the whole plugin is missing, unless it is a misspelling.
            candidates = entries if self._missing(id) is None or nearest(id, entries) else []
            same = self._ids_of_synonym(kind, id)
            raise LookUpError(kind.replace("_", " "), id, candidates, self._hint(id), same)
        return entries[id]

    def entries(self, kind: str) -> list[RegisteredClass]:
        """Everything of one kind, in order of ids."""
        return [entry for _, entry in sorted(self._of_kind(kind).items())]

    def owner(self, cls: type) -> RegisteredClass:
        """The entry of a registered class (its id and who owns it).

        Raises
        ------
        LookUpError
            When no plugin registered this class.
        """
        owning_entry = self.registered(cls)
        if owning_entry is None:
            name = place_of(getattr(cls, "made_by", None) or cls)
            targets = [entry.target for entries in self._entries.values() for entry in entries.values()]
            raise LookUpError("registered class", name, targets, "Register it in the hook of a plugin.")
        return owning_entry

    def registered(self, cls: type) -> RegisteredClass | None:
        """The entry of a class; None where no plugin registered it."""
        cls = getattr(cls, "made_by", None) or cls
        name = place_of(cls)
        for entries in self._entries.values():
            for entry in entries.values():
                if entry.target == name and entry.cls is cls:
                    return entry
        return None

    @property
    def is_loaded(self) -> bool:
        """Whether all modules are imported, and nothing is taken from an index."""
        return all(isinstance(entry.registered, type) for record in self.plugins for entry in record.entries)

    @property
    def failures(self) -> list[PluginRecord]:
        """The plugins that could not be loaded."""
        return [record for record in self.plugins if record.status == "failed"]

    @property
    def refusals(self) -> list[Refusal]:
        """The ids of loaded plugins that several classes claim."""
        return [refusal for record in self.plugins for refusal in record.refused]

    def _of_kind(self, kind: str) -> dict[str, RegisteredClass]:
        if kind not in self._entries and kind not in declared_kinds():
            raise LookUpError("kind of entry", kind, {**declared_kinds(), **self._entries})
        return self._entries.get(kind, {})

    def _ids_of_synonym(self, kind: str, id: str) -> list[str]:
        """Ids of classes that list this word in `known_as`: `pin` is another word for a revolute joint."""
        if kind not in self._by_synonym:
            words = self._by_synonym.setdefault(kind, {})
            for entry in self._of_kind(kind).values():
                for word in entry.known.known_as:
                    words.setdefault(word, []).append(entry.id)
        return sorted(self._by_synonym[kind].get(id.rpartition(".")[2].lower(), []))

    def _missing(self, id: str) -> str | None:
        """The plugin that an id belongs to, when none of that name is installed."""
        prefix, dot, _ = id.partition(".")
        return prefix if dot and all(record.name != prefix for record in self.plugins) else None

    def _hint(self, id: str) -> str:
        """Hints for the message about an unknown id."""
        kinds = {entries[id].kind for entries in self._entries.values() if id in entries}
        hints = [
            f"'{id}' is {'an' if kind[0] in 'aeiou' else 'a'} {kind.replace('_', ' ')}."
            for kind in sorted(kinds)
        ]
        hints += [f"{r.reason}." for r in self.refusals if r.id == id]
        prefix, missing = id.partition(".")[0], self._missing(id)
        hints += [f"No plugin '{missing}' is installed."] if missing is not None else []
        unloaded = [record for record in self.plugins if record.status != "loaded"]
        of_plugin = [record for record in unloaded if record.name == prefix]
        hints += [str(record) + "." for record in of_plugin]
        if not of_plugin and self.failures:
            hints += [f"Did not load: {', '.join(record.name for record in self.failures)}."]
        return " ".join([*hints, "Installed: `cosim plugins`."])


_in_use: ContextVar[Registry | None] = ContextVar("cosim_registry", default=None)


@functools.cache
def _installed() -> Registry:
    return Registry(installed_plugins())


def registry() -> Registry:
    """The registry in use: the one of `use_registry`, else that of the installed plugins, loaded once."""
    return _in_use.get() or _installed()


@contextmanager
def use_registry(chosen: Registry) -> Iterator[Registry]:
    """Make `registry` return another registry inside a ``with`` block, in this thread or task alone."""
    token = _in_use.set(chosen)
    try:
        yield chosen
    finally:
        _in_use.reset(token)
