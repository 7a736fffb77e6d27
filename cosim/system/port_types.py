"""The signals that may be connected to an input which is a switch, a whole number or a choice."""

from __future__ import annotations

from cosim.component.declaration import Declaration
from cosim.component.read_numbers import choices_of

NAMES = {bool: "a switch", int: "a whole number"}


def type_fault(path: str, source: Declaration, target: Declaration, is_scaled: bool) -> str:
    """Why a signal cannot be what an input reads; empty where it can.

    A number takes everything, a whole number takes switches and words as well.

    Parameters
    ----------
    path : str
        Of the signal.
    source, target : Declaration
    is_scaled : bool
        Whether the connection has a factor or an offset.
    """
    words, needed = choices_of(source), choices_of(target)
    is_integer = source.dtype in (bool, int) or source.kind == "integer"
    if target.dtype is float and not needed:
        return ""
    fits = (
        words == needed
        if needed
        else source.dtype is bool and not words
        if target.dtype is bool
        else is_integer
    )
    if fits and is_scaled:
        return f"'{path}' goes to {_what(target)}, which takes neither factor nor offset."
    return "" if fits else f"'{path}' is {_what(source)}, {_what(target)} is needed here."


def _what(declaration: Declaration) -> str:
    words = choices_of(declaration)
    if words:
        return f"one of {', '.join(map(repr, words))}"
    is_count = declaration.kind == "integer" and declaration.dtype is float
    return NAMES.get(int if is_count else declaration.dtype, "a number")
