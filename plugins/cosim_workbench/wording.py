"""Sentences that several messages share."""

from __future__ import annotations

from collections.abc import Iterable

from cosim.kit import nearest


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """What to say about a name that means nothing.

    >>> unknown("key", "acuracy", ["accuracy", "until"])
    "no key 'acuracy'. Nearest: accuracy."
    """
    names = sorted(known)
    near = nearest(name, names)
    hint = f"Nearest: {near}." if near else f"There are: {', '.join(names)}."
    return f"no {what} '{name}'. {hint}"


def counted(number: int, word: str) -> str:
    """A number of things.

    >>> counted(1, "step"), counted(1167, "step")
    ('1 step', '1167 steps')
    """
    return f"{number} {word}{'s' * (number != 1)}"
