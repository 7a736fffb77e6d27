"""The possible endings of a command line."""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

import cosim
from cosim.kit import CommandParser, commands
from cosim_workbench.arguments import RegisteredId, completions

FILES = ":files"
"""Tells the shell to complete the names of files, which it does best."""


def candidates(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The completions of the last word, each with its meaning.

    Parameters
    ----------
    words : sequence of str
        The words after ``cosim`` up to the cursor; the last one may be incomplete or empty.
    """
    # bash splits `--until=2` into three words, zsh and fish do not
    whole_words = [_unquoted(word) for word in words if word != "="]
    *before, typed = whole_words or [""]
    if typed.startswith("--") and "=" in typed:
        option, _, typed = typed.partition("=")
        before.append(option)
    command = next((i for i, word in enumerate(before) if not word.startswith("-")), None)
    try:
        if command is None:
            offers = _commands() if not typed.startswith("-") else _options(None)
        else:
            offers = _arguments(before[command], before[command + 1 :], typed)
    except cosim.CosimError:  # messages would disturb a line that is being typed
        return
    files = [item for item in offers if item[0] == FILES]
    yield from (item for item in offers if item[0].startswith(typed) and item not in files)
    yield from files[:1]


def _commands() -> list[tuple[str, str]]:
    return [(word, entry.known.summary) for word, entry in commands().items()]


def _options(parser: CommandParser | None) -> list[tuple[str, str]]:
    """Options by their long names, or by the short one if there is only that."""
    if parser is None:
        return [(word, "") for word in ("--help", "--version", "--json", "--verbose", "--traceback")]
    options = []
    for action in parser.arguments:
        if action.option_strings and action.help is not argparse.SUPPRESS:
            text = (action.help or "").replace("%%", "%")
            options.append((max(action.option_strings, key=len), text))
    return options


def _arguments(name: str, before: Sequence[str], typed: str) -> list[tuple[str, str]]:
    """The completions behind a command and some of its words."""
    by_name = commands()
    if name not in by_name:
        return []
    parser = CommandParser(by_name[name].cls())
    if typed.startswith("-"):
        return _options(parser)
    action = _expected(parser, before)
    if action is None:
        return _options(parser) if not typed else []
    offers = completions(action, before)
    if offers is None:
        return [(FILES, "")]
    if isinstance(action.type, RegisteredId) and not any(word.startswith(typed) for word in offers):
        endings = Counter(word.rpartition(".")[2] for word in offers)  # unique endings mean the whole id
        offers = [word for word, count in endings.items() if count == 1]
    return [(word, "") for word in offers]


def _expected(parser: CommandParser, before: Sequence[str]) -> argparse.Action | None:
    """The option, or the positional argument, to which the next word belongs."""
    by_option = {word: action for action in parser.arguments for word in action.option_strings}
    waiting: argparse.Action | None = None  # an option whose value comes next
    count_of_positionals = 0
    for word in before:
        if word.startswith("-") and word in by_option:
            waiting = by_option[word] if by_option[word].nargs != 0 else None
        elif waiting is not None:
            waiting = waiting if _repeats(waiting) else None
        elif not word.startswith("-"):
            count_of_positionals += 1
    positionals = [action for action in parser.arguments if not action.option_strings]
    if waiting is not None or not positionals:
        return waiting
    if count_of_positionals < len(positionals):
        return positionals[count_of_positionals]
    return positionals[-1] if _repeats(positionals[-1]) else None


def _repeats(action: argparse.Action) -> bool:
    """Whether more than one word may be its values."""
    return action.nargs in ("*", "+")


def _unquoted(word: str) -> str:
    """A word without quotes and escapes, which shells pass on as they were typed."""
    if not any(mark in word for mark in "\\'\""):
        return word
    try:
        return "".join(shlex.split(word))
    except ValueError:  # a quote that is still open
        return word.lstrip("'\"")
