"""The name that is meant, among those that there are: by letters, and by words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

SIMILAR, LIKE = 0.8, 0.6  # shares of letters that two names have in common
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

    One that differs in its prefix alone; those whose words begin with these letters (``rk4``); one with
    nearly the same letters; those with these words in them; and at last one with somewhat similar letters.

    Examples
    --------
    >>> nearest_names("damper", ["mechanics.two_point_damper", "mechanics.global_damper", "measures.delay"])
    ['mechanics.global_damper', 'mechanics.two_point_damper']
    """
    names = list(known)
    tails = {_tail(n): n for n in reversed(names)}
    if not name.strip():
        return []
    tail = _tail(name)
    same = difflib.get_close_matches(name, [n for n in names if _tail(n) == tail], n=1, cutoff=0.0)
    if same:
        return same
    for shortened in dict.fromkeys((tail.lower(), tail.lower().rstrip("0123456789"))):
        abbreviated = [n for n in names if len(shortened) > 1 and _is_short_for(shortened, _words(_tail(n)))]
        if abbreviated:
            return sorted(abbreviated, key=len)[:most]
    best = _by_letters(name, names, tails, SIMILAR)
    if best:
        return best[:most]
    words = _words(tail)
    with_words = [n for n in names if words and set(words) <= {*_words(_tail(n))}]
    return sorted(with_words, key=len)[:most] or _by_letters(name, names, tails, LIKE)[:1]


def _by_letters(name: str, names: list[str], tails: dict[str, str], share: float) -> list[str]:
    """The most similar, by the whole name, else by what stands behind the prefix."""
    similar = difflib.get_close_matches(name, names, n=1, cutoff=share)
    tail = _tail(name)
    return similar or [tails[t] for t in difflib.get_close_matches(tail, list(tails), n=3, cutoff=share)]


def _is_short_for(short: str, words: list[str]) -> bool:
    """Whether letters are the beginnings of these words, of each one, in their order."""
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
    return [word.lower() for word in WORD.findall(name)]
