"""All commands, by the words that are typed."""

from __future__ import annotations

from cosim.command_line.plugins_command import PluginsCommand
from cosim.registration.plugin_record import RegisteredClass
from cosim.registration.registry import Registry, registry
from cosim.version import DISTRIBUTION, __version__

PLUGINS = RegisteredClass("cosim.plugins", PluginsCommand, "cosim", DISTRIBUTION, __version__)
"""The one command that belongs to no plugin: it has to work when every plugin is broken."""


def claimed_words(source: Registry) -> dict[str, list[RegisteredClass]]:
    """All commands by the word that is typed; several under one word when plugins chose the same."""
    claims: dict[str, list[RegisteredClass]] = {PLUGINS.known.name: [PLUGINS]}
    for entry in source.entries("command"):
        if entry.known.name != PLUGINS.known.name:
            claims.setdefault(entry.known.name, []).append(entry)
    return claims


def commands() -> dict[str, RegisteredClass]:
    """All commands by what is typed behind ``cosim``: a word, or an id if several plugins chose one."""
    entries = {}
    for word, claimants in sorted(claimed_words(registry()).items()):
        for entry in claimants:
            entries[word if len(claimants) == 1 else entry.id] = entry
    return entries
