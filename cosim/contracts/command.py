"""The contract of commands."""

from __future__ import annotations

import argparse
import functools
import re
from abc import abstractmethod
from typing import Any, ClassVar

from cosim.attributes import AbstractClosedAttributes
from cosim.errors import ContractError
from cosim.registration.kinds import plugin_kind


@plugin_kind("command")
class Command(AbstractClosedAttributes):
    """A verb of the command line: ``cosim <name> …``.

    A plugin registers the class under ``<plugin>.<verb>``. The
    class is instantiated without arguments, and only when its verb was typed or the help is printed.

    Attributes
    ----------
    name : str
        The word that is typed: lower case letters, digits, ``_`` and ``-``.
    summary : str
        One line for ``cosim --help``.
    known_as : tuple of str
        Words that people may type in place of the name: they are answered with it.
    examples : tuple of (str, str)
        Command lines, each with what it does, for ``cosim <name> --help``.
    failure : str
        What the exit status 1 means, when it says more than that a run could not go on.
    leaves_garbage : bool
        Whether a program that runs it searches for no garbage: nearly all that it makes stays to its end.
    reported : dict
        What `report` was given; ``--json`` prints it.

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
    known_as: ClassVar[tuple[str, ...]] = ()
    examples: ClassVar[tuple[tuple[str, str], ...]] = ()
    failure: ClassVar[str] = ""
    leaves_garbage: ClassVar[bool] = False

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

        What people see is printed, and what programs need is given to `report`. Bad input is raised as a
        `CosimError` (exit status 2), a simulation that could not go on as a `SimulationError` (exit
        status 1); the command line prints both without a traceback.
        """

    def runs_code_of_others(self, arguments: argparse.Namespace) -> bool:
        """Whether native code of others runs inside, which may end the process: then another one outlives it.

        The command runs in a fork of the program then, before which nothing may be begun that a fork does
        not survive (threads).
        """
        return False

    def report(self, **values: Any) -> None:
        """Tell programs what came of it: with ``--json`` it is printed, also when an error follows.

        Parameters
        ----------
        **values
            Texts, numbers, paths, arrays, dataclasses, and lists and dicts of them.
        """
        self.reported.update(values)

    @functools.cached_property
    def reported(self) -> dict[str, Any]:
        """The reports so far."""
        return {}
