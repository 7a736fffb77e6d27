"""The record of a plugin, and of each class that it registered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from cosim.errors import PluginError
from cosim.registration.fault_place import fault_place, raise_interrupt
from cosim.registration.unloaded_class import UnloadedClass


@dataclass(frozen=True)
class RegisteredClass:
    """One registered class and its owner.

    Attributes
    ----------
    id : str
        ``<plugin>.<snake_case>``.
    registered : type or UnloadedClass
        The class, or what is known of it as long as its module is not imported.
    plugin, distribution, version : str
        Who registered it.
    """

    id: str
    registered: type[Any] | UnloadedClass
    plugin: str
    distribution: str
    version: str

    @property
    def cls(self) -> type[Any]:
        """The class; its module is imported if need be.

        Raises
        ------
        PluginError
            When the module cannot be imported.
        """
        if isinstance(self.registered, type):
            return self.registered
        try:
            return self.registered.load()
        except (Exception, SystemExit) as cause:  # whatever the module of a plugin does
            raise_interrupt(cause)
            target = self.registered.target
            place = fault_place(cause, target)
            reason = f"{self.id}: cannot load {target}: {type(cause).__name__}: {cause}"
            reason += f" ({place})" if place else ""
            raise PluginError(self.plugin, self.distribution, self.version, reason) from cause

    @property
    def known(self) -> UnloadedClass:
        """The class, not necessarily imported."""
        if isinstance(self.registered, type):
            return UnloadedClass.of(self.registered)
        return self.registered

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds under which it is found, the nearest first: ("joint", "component")."""
        return self.known.kinds

    @property
    def kind(self) -> str:
        """The nearest kind, such as "joint"."""
        return self.kinds[0]

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Endings of the files that it reads or writes."""
        return self.known.suffixes

    @property
    def target(self) -> str:
        """The place of the class: ``module:qualified.name``."""
        return self.known.target

    @property
    def owner(self) -> str:
        """The owner in words, for messages."""
        return f"plugin '{self.plugin}' ({self.distribution} {self.version})"

    def to_dict(self) -> dict[str, str]:
        """A row of a manifest, from which `Registry.from_manifest` makes the entry again."""
        return {
            "id": self.id,
            "kind": self.kind,
            "target": self.target,
            "plugin": self.plugin,
            "distribution": self.distribution,
            "version": self.version,
        }


@dataclass(frozen=True)
class Refusal:
    """An id under which nothing is registered, and why."""

    id: str
    reason: str


@dataclass(frozen=True)
class PluginRecord:
    """One plugin that was found, whether it could be loaded or not.

    Attributes
    ----------
    name : str
        Name of its entry point.
    distribution, version : str
    value : str
        What the entry point names: a module.
    status : str
        "loaded", "failed", or "skipped" when the environment asked not to load it.
    contract : str or None
        Contract version that the plugin declares, None when it declares none or was not loaded.
    entries : tuple of RegisteredClass
    refused : tuple of Refusal
        Ids that several of its classes claim.
    error : PluginError or None
        Why it failed; its ``__cause__`` is the plugin's own exception.
    reason : str
        Why it failed or was skipped, in words.
    """

    name: str
    distribution: str
    version: str
    value: str
    status: Literal["loaded", "failed", "skipped"]
    contract: str | None = None
    entries: tuple[RegisteredClass, ...] = ()
    refused: tuple[Refusal, ...] = ()
    error: PluginError | None = None
    reason: str = ""

    def __str__(self) -> str:
        verb = {"loaded": "is loaded", "failed": "did not load", "skipped": "was not loaded"}[self.status]
        return f"plugin '{self.name}' ({self.distribution} {self.version}) {verb}: {self.reason}".rstrip(": ")

    def to_dict(self) -> dict[str, Any]:
        """Everything but the classes, as it is printed by ``cosim plugins --json``."""
        registers: dict[str, list[str]] = {}
        for entry in self.entries:
            registers.setdefault(entry.kind, []).append(entry.id)
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "value": self.value,
            "status": self.status,
            "contract": self.contract,
            "registers": {kind: sorted(ids) for kind, ids in sorted(registers.items())},
            "refused": {refusal.id: refusal.reason for refusal in self.refused},
            "reason": self.reason,
        }
