"""The parser of the arguments of one command."""

from __future__ import annotations

import argparse
import contextlib
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from cosim.command_line.exit_status import exit_statuses
from cosim.contracts.command import Command
from cosim.errors import CosimError
from cosim.option_synonyms import option_of_synonym
from cosim_compiler.nearest import nearest

COMMON: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "json": (("--json",), {"action": "store_true", "help": "print one JSON document, for programs"}),
    "verbose": (
        ("-v", "--verbose"),
        {"action": "count", "default": 0, "help": "report progress with times (-vv: more)"},
    ),
    "traceback": (
        ("--traceback",),
        {"action": "store_true", "help": "show the Python traceback of an error"},
    ),
}
"""Options that every command has, by the name of their value."""


class CommandParser(argparse.ArgumentParser):
    """The parser of one command, with the options that all have; faults are a `UsageError`.

    Parameters
    ----------
    command : Command
        It says its options, its examples, and what the exit status 1 means for it.
    """

    def __init__(self, command: Command) -> None:
        super().__init__(
            prog=f"cosim {command.name}",
            description=command.summary,
            epilog=_epilog(command),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.configure(self)
        common = self.add_argument_group("options of all commands")
        for flags, settings in COMMON.values():
            with contextlib.suppress(argparse.ArgumentError):  # a command may have an option of that name
                common.add_argument(*flags, **settings)

    @property
    def arguments(self) -> list[argparse.Action]:
        """All that it reads: options and positional ones."""
        options = dict.fromkeys(self._option_string_actions.values())
        return [*self._get_positional_actions(), *options]

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments; the error of an unknown option names the nearest one."""
        arguments, rest = self.parse_known_args(words)
        if rest:
            self.error(" ".join(_unknown(word, self._option_string_actions) for word in rest))
        return arguments

    def error(self, message: str) -> NoReturn:
        """Raise in place of printing all options and ending the process."""
        raise UsageError(self.prog, message)


class UsageError(CosimError):
    """Words of a command line that cannot be read.

    Attributes
    ----------
    command : str
        ``cosim run``.
    reason : str
    """

    def __init__(self, command: str, reason: str) -> None:
        self.command, self.reason = command, reason
        stop = "" if reason.endswith(".") else "."
        super().__init__(f"{command}: {reason}{stop} See: {command} --help")


def _unknown(word: str, options: Any) -> str:
    """The sentence about a word that a command has no use for."""
    name = word.partition("=")[0]
    if not name.startswith("-"):
        return f"no use for '{word}'."
    meant = option_of_synonym(
        name.strip("-").replace("-", "_"), (o.strip("-").replace("-", "_") for o in options)
    )
    near = f"--{meant.replace('_', '-')}" if meant else nearest(name, options)
    return f"no option '{name}'." + (f" Nearest: {near}." if near else "")


def _epilog(command: Command) -> str:
    """Examples below each other, and the exit statuses."""
    width = max((len(words) for words, _ in command.examples), default=0)
    lines = ["examples:"] if command.examples else []
    for words, text in command.examples:
        line = f"  {words:<{width}}   {text}".rstrip()
        lines += (
            [line] if len(line) <= 110 else [f"  {words}", *textwrap.wrap(text, 100, initial_indent="      ")]
        )
    return "\n".join([*lines, *([""] if lines else []), exit_statuses(command.failure)])
