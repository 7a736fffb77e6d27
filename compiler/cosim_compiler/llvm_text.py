r"""Searching LLVM's text with patterns: they must not see what stands in strings and comments.

A string ends at the next quote (LLVM writes one inside as ``\22``) and holds no end of line (``\0A``).
"""

from __future__ import annotations

import re
from collections.abc import Callable

# A name in quotes is no string: behind a sign, or at the start of a line and ahead of a colon.
PIECE = re.compile(
    r'(?P<name>[@%$]"[^"]*"|^"[^"]*"(?=:))|(?P<string>"[^"]*")|(?P<comment> *;[^\n]*)', re.MULTILINE
)

SIGNS = '";'
"""Lines without one of them, nearly all, hold neither strings nor comments."""


def without_strings(text: str) -> str:
    """The code alone, to be searched: strings are empty, and comments are not there."""
    return _with_pieces(
        text, lambda piece: {"string": '""', "comment": ""}.get(str(piece.lastgroup), piece[0])
    )


def with_code_edited(text: str, edit: Callable[[str], str]) -> str:
    """The text without comments, and as `edit` changes its code; strings stay as they are.

    Parameters
    ----------
    text : str
    edit : callable
        Is given the text with numbers inside the quotes of strings.
    """
    strings: list[str] = []

    def hide(piece: re.Match[str]) -> str:
        if piece.lastgroup == "string":
            strings.append(piece[0])
            return f'"{len(strings) - 1}"'
        return "" if piece.lastgroup == "comment" else piece[0]

    def show(piece: re.Match[str]) -> str:
        return strings[int(piece[0].strip('"'))] if piece.lastgroup == "string" else piece[0]

    return _with_pieces(edit(_with_pieces(text, hide)), show)


def _with_pieces(text: str, changed: Callable[[re.Match[str]], str]) -> str:
    done, at = [], 0  # where the text begins, or the end of a line
    next_of = {sign: text.find(sign) for sign in SIGNS}
    while found := [place for place in next_of.values() if place >= 0]:
        first, last = text.rfind("\n", at, min(found)) + 1, text.find("\n", min(found))
        last = len(text) if last < 0 else last
        done += [text[at:first], PIECE.sub(changed, text[first:last])]
        at = last
        next_of |= {sign: text.find(sign, at) for sign in SIGNS if 0 <= next_of[sign] < at}
    return "".join([*done, text[at:]])
