"""A value in a message: as it is typed, or what kind of thing it is."""

from __future__ import annotations

import types
from typing import Any

LONGEST = 200  # characters


def quote(value: Any) -> str:
    """A value that was given, in words that a message can have: no addresses, and nothing endless.

    Examples
    --------
    >>> quote("3 kg"), quote([1, 2]), quote(object()), quote(dict), quote(len)
    ("'3 kg'", '[1, 2]', 'an object of class object', 'the class dict', 'the function len')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
        return f"the function {value.__name__}"
    brief = getattr(type(value), "_brief", None)  # of a part, without its values
    text = repr(value) if brief is None else str(brief(value))
    if "\n" in text and not isinstance(value, str):  # tables, arrays
        text = " ".join(text.split())
    if " at 0x" in text and text.startswith("<"):
        return f"an object of class {type(value).__name__}"
    if " at 0x" in text:
        return f"{'a list' if isinstance(value, (list, tuple)) else type(value).__name__} with objects in it"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"
