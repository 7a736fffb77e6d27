"""Sentences that several messages share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cosim.kit import nearest

IN_ONE_LINE = {ord("\n"): r"\n", ord("\t"): r"\t"}
"""Characters of names and descriptions that would break a line of a table; the terminal escapes others."""


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
    r"""Lines of a table; a column without any text takes no room, and line ends and tabs are escaped.

    >>> below_each_other([["mass", "", "kg"], ["q", "", "m"]])
    ['  mass  kg', '  q     m']
    >>> print(*below_each_other([["two\nlines", "1"], ["a\ttab", "22"]]), sep="\n")
      two\nlines  1
      a\ttab      22
    """
    columns = [_in_one_line(column) for column in zip(*rows, strict=True) if any(column)]
    template = "".join(f"  %-{max(map(len, column))}s" for column in columns)
    return [(template % cells).rstrip() for cells in zip(*columns, strict=True)]


def _in_one_line(column: Sequence[str]) -> Sequence[str]:
    """The cells of a column; where one has a line end or a tab, all are searched for them."""
    text = "".join(column)
    is_plain = "\n" not in text and "\t" not in text
    return column if is_plain else [cell.translate(IN_ONE_LINE) for cell in column]
