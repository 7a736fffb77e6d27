"""What shells may complete an argument with."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from cosim.command_line.registered_id import RegisteredId

Completer = Callable[[Sequence[str]], Iterable[str]]


def completes(action: argparse.Action, completer: Completer) -> None:
    """Say what an argument may be, for ``cosim completion``.

    Needed neither for what has ``choices`` nor for what is read by ``type=Path`` or `RegisteredId`.

    Parameters
    ----------
    action : argparse.Action
        As ``parser.add_argument`` returns it.
    completer : callable
        Is given the words of the line before it.
    """
    action.completer = completer  # type: ignore[attr-defined]


def completions(action: argparse.Action, words: Sequence[str]) -> list[str] | None:
    """What an argument may be; None where files are meant, which shells know themselves."""
    completer: Completer | None = getattr(action, "completer", None)
    if completer is not None:
        return list(completer(words))
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    if isinstance(action.type, RegisteredId):
        return action.type.ids()
    return None if action.type is Path else []
