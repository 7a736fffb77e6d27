"""The names among the known ones that someone who has misspelt a name may have meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

SIMILAR, SOMEWHAT_SIMILAR = 0.8, 0.6
"""Shares of letters that two names must have in common, as difflib counts them."""
WORD = re.compile(r"[a-z]+|[A-Z][a-z]*|\d+")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The most similar of the known names, or None when none is similar; see `nearest_names`.

    Examples
    --------
    >>> nearest("mechanics.linear_bushin", ["mechanics.linear_bushing", "measures.delay"])
    'mechanics.linear_bushing'
    >>> nearest("rk4", ["integrators.esdirk43", "integrators.runge_kutta_4"])
    'integrators.runge_kutta_4'
    >>> nearest("damper", ["mechanics.two_point_damper", "measures.delay"])
    'mechanics.two_point_damper'
    """
    return next(iter(nearest_names(name, names)), None)


def nearest_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The closest matches of a name, the likeliest first.

    The first of these rules that finds a match decides: names that differ in their prefix alone; names whose
    words begin with the letters (``rk4``); names with nearly the same letters; names that contain the words;
    names with somewhat similar letters.

    Examples
    --------
    >>> nearest_names("damper", ["mechanics.two_point_damper", "mechanics.global_damper", "measures.delay"])
    ['mechanics.global_damper', 'mechanics.two_point_damper']
    """
    names = list(known)
    if not name.strip():
        return []
    return (
        _with_same_tail(name, names)
        or _abbreviated_by(_tail(name).lower(), names)[:most]
        or _by_letters(name, names, SIMILAR)[:most]
        or _with_words(_words(_tail(name)), names)[:most]
        or _by_letters(name, names, SOMEWHAT_SIMILAR)[:1]
    )


def _with_same_tail(name: str, names: list[str]) -> list[str]:
    """The name most similar to this one, of those that differ from it in their prefix alone."""
    same = [known for known in names if _tail(known) == _tail(name)]
    return difflib.get_close_matches(name, same, n=1, cutoff=0.0)


def _abbreviated_by(letters: str, names: list[str]) -> list[str]:
    """The names that letters are short for, the shortest first; else those without digits at the end."""
    for short in dict.fromkeys((letters, letters.rstrip("0123456789"))):
        abbreviated = [name for name in names if len(short) > 1 and _is_short_for(short, _words(_tail(name)))]
        if abbreviated:
            return sorted(abbreviated, key=len)
    return []


def _by_letters(name: str, names: list[str], share: float) -> list[str]:
    """The names that are most similar as a whole; else those that are most similar behind their prefix."""
    similar = difflib.get_close_matches(name, names, n=1, cutoff=share)
    tails = {_tail(known): known for known in reversed(names)}
    close_tails = difflib.get_close_matches(_tail(name), list(tails), n=3, cutoff=share)
    return similar or [tails[tail] for tail in close_tails]


def _with_words(words: list[str], names: list[str]) -> list[str]:
    """The names that contain all of these words, the shortest first."""
    with_words = [name for name in names if words and set(words) <= {*_words(_tail(name))}]
    return sorted(with_words, key=len)


def _is_short_for(short: str, words: list[str]) -> bool:
    """Whether the letters are beginnings of all these words, one after the other (``rk4``: runge kutta 4)."""
    if not words:
        return not short
    first, other_words = words[0], words[1:]
    if len(words) == 1 and short == first[: len(short)]:
        return len(short) > 0 and (len(short) >= 3 or short == first)
    if first.isdigit():
        return short.startswith(first) and _is_short_for(short[len(first) :], other_words)
    return any(
        short[:n] == first[:n] and _is_short_for(short[n:], other_words)
        for n in range(1, min(len(first), len(short)) + 1)
    )


def _tail(name: str) -> str:
    """The part of an id behind its prefix."""
    return name.rpartition(".")[2]


def _words(name: str) -> list[str]:
    """The words of a name in lower case, with numbers as words of their own."""
    return [word.lower() for word in WORD.findall(name)]
