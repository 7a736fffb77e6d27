"""What the command line needs from a command."""

from __future__ import annotations

import argparse
import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from cosim.errors import ContractError
from cosim.registration.kinds import plugin_kind


@plugin_kind("command")
class Command(ABC):
    """A verb of the command line: ``cosim <name> …``.

    A plugin registers the class under ``<plugin>.<verb>``. The
    class is instantiated without arguments, and only when its verb was typed or the help is printed.

    Attributes
    ----------
    name : str
        The word that is typed: lower case letters, digits, ``_`` and ``-``.
    summary : str
        One line for ``cosim --help``.

    Raises
    ------
    ContractError
        When a class that implements both methods has no valid name or no summary.

    Examples
    --------
    >>> class Greet(Command):
    ...     '''Say hello.'''
    ...     name = "greet"
    ...     summary = "say hello"
    ...     def configure(self, parser): parser.add_argument("who")
    ...     def run(self, arguments): print("hello,", arguments.who); return 0
    >>> Greet().run(argparse.Namespace(who="world"))
    hello, world
    0
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        methods = (cls.configure, cls.run)
        if any(getattr(method, "__isabstractmethod__", False) for method in methods):
            return
        name, summary = getattr(cls, "name", None), getattr(cls, "summary", None)
        if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
            raise ContractError(
                f"command {cls.__qualname__}: name is {name!r}, needs lower case letters, digits, '_', '-': "
                f'write name = "{cls.__name__.lower()}" in the class.'
            )
        if not isinstance(summary, str) or not summary.strip():
            raise ContractError(
                f"command {cls.__qualname__}: has no summary: "
                'write summary = "what it does, in one line" in the class.'
            )

    @abstractmethod
    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options and arguments of this command to its own parser."""

    @abstractmethod
    def run(self, arguments: argparse.Namespace) -> int:
        """Do it and return the exit status.

        Bad input is raised as a `CosimError` (exit status 2), a simulation that could not go on as a
        `SimulationError` (exit status 1); the command line prints both without a traceback.
        """
