"""The page of commands: arguments, examples and options, from their parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from page_parts import table_lines

from cosim import kit
from cosim.command_line.command_entries import commands
from cosim.command_line.command_parser import COMMON, CommandParser
from cosim.command_line.plugins_command import PluginsCommand


def command_page(entries: Iterable[kit.RegisteredClass]) -> str:
    """A section for each registered command, and for `cosim plugins`, then the options of all commands."""
    lines = ["# Commands", "", "Each command explains itself with `--help`.", ""]
    registered_ids = {entry.id for entry in entries}
    for name, entry in commands().items():
        if entry.id in registered_ids or entry.cls is PluginsCommand:
            registration = f" Registered as `{entry.id}`." if entry.id in registered_ids else ""
            lines += _section(name, entry.cls(), registration)
    common = [(f"`{', '.join(flags)}`", settings["help"]) for flags, settings in COMMON.values()]
    lines += ["## Options of all commands", "", *table_lines(("option", "meaning"), common), ""]
    return "\n".join(lines)


def _section(name: str, command: kit.Command, registration: str) -> list[str]:
    """The summary of a command, its arguments, examples, and the reason for a status of 1."""
    summary = command.summary[:1].upper() + command.summary[1:] + "."
    lines = [f"## cosim {name}", "", f"{summary}{registration}", ""]
    rows = []
    for action in CommandParser(command).arguments:
        if action.dest not in ("help", *COMMON) and action.help != argparse.SUPPRESS:
            names = ", ".join(action.option_strings) or action.dest
            values = action.metavar or (", ".join(map(str, action.choices)) if action.choices else "")
            rows.append((f"`{names}`", f"{values}", action.help or ""))
    lines += [*table_lines(("argument", "value", "meaning"), rows), ""]
    lines += [f"    {typed}{f'  # {meaning}' if meaning else ''}" for typed, meaning in command.examples]
    return lines + (["", f"Exit status 1: {command.failure}.", ""] if command.failure else [""])
