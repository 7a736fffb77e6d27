"""Patterns for the names of signals."""

from __future__ import annotations

import functools
import re


def matches(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern, in which ``*`` stands for any text and ``?`` for one character.

    All else stands for itself, brackets too: they are the elements of vectors, not sets of characters.

    Parameters
    ----------
    name, pattern : str

    Examples
    --------
    >>> matches("mount.stiffness[3]", "mount.*[?]"), matches("mount.x", "mount.[xyz]")
    (True, False)
    """
    return _expression(pattern).fullmatch(name) is not None


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern, and not simply a name.

    Examples
    --------
    >>> is_pattern("energy.*"), is_pattern("x[0]")
    (True, False)
    """
    return "*" in text or "?" in text


@functools.lru_cache(256)
def _expression(pattern: str) -> re.Pattern[str]:
    """The regular expression of a pattern; names may contain line ends."""
    pieces = ({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern)
    return re.compile("".join(pieces), re.DOTALL)
