"""Sentences that several messages share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cosim.kit import nearest


def unknown(kind: str, name: str, candidates: Iterable[str]) -> str:
    """The sentence about an unknown name, with the closest matches.

    >>> unknown("key", "acuracy", ["accuracy", "until"])
    "no key 'acuracy'. Nearest: accuracy."
    >>> unknown("part", "wheel", [])
    "no part 'wheel'. There are none."
    """
    names = sorted(candidates)
    near = nearest(name, names)
    listing = f"There are: {', '.join(names)}." if names else "There are none."
    hint = f"Nearest: {near}." if near else listing
    return f"no {kind} '{name}'. {hint}"


def counted(number: int, word: str) -> str:
    """A number of things.

    >>> counted(1, "step"), counted(1167, "step")
    ('1 step', '1167 steps')
    """
    return f"{number} {word}{'s' * (number != 1)}"


def below_each_other(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table; a column without any text takes no room.

    >>> below_each_other([["mass", "", "kg"], ["q", "", "m"]])
    ['  mass  kg', '  q     m']
    """
    widths = [(column, max(map(len, column))) for column in zip(*rows, strict=True)]
    columns = [[cell.ljust(width) for cell in column] for column, width in widths if width]
    return [f"  {'  '.join(cells).rstrip()}" for cells in zip(*columns, strict=True)]
