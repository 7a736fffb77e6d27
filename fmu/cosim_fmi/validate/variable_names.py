"""Legal names of variables, by the naming convention that a model description declares."""

from __future__ import annotations

import re

_PLAIN = r"[A-Za-z_][A-Za-z0-9_]*"
_QUOTED = r"'(?:[A-Za-z0-9_!#$%&()*+,./:;<>=?@\[\]^{}|~ -]|\\['\"?\\abfnrtv])+'"
_PART = rf"(?:{_PLAIN}|{_QUOTED})(?:\[[0-9]+(?:,[0-9]+)*\])?"
_IDENTIFIER = rf"{_PART}(?:\.{_PART})*"
STRUCTURED = re.compile(rf"{_IDENTIFIER}|der\({_IDENTIFIER}(?:,[0-9]+)?\)")
"""The grammar of the standard: ``a.b[1,2].c``, ``der(a.b)``, ``'any thing'.x``."""
NOT_FLAT = re.compile(r"[\r\n\t]")


def name_fault(name: str, naming: str) -> str:
    """The fault of a name under the convention "flat" or "structured"; empty if it is legal.

    Examples
    --------
    >>> name_fault("wheel.spring[2].c", "structured")
    ''
    >>> name_fault("wheel spring", "structured")
    'is not a legal name of the naming convention "structured"'
    """
    if naming == "structured":
        is_legal = STRUCTURED.fullmatch(name) is not None
    else:
        is_legal = NOT_FLAT.search(name) is None
    return "" if is_legal else f'is not a legal name of the naming convention "{naming}"'
