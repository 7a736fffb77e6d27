"""Names of variables as FMI wants them."""

from __future__ import annotations

import re

PIECE = r"[A-Za-z_][A-Za-z0-9_]*(\[[0-9]+(,[0-9]+)*\])?"
PATH = rf"{PIECE}(\.{PIECE})*"
SUBSCRIPTS = re.compile(r"\[\d+(,\d+)*\]$")
STRUCTURED = re.compile(rf"{PATH}|der\({PATH}\)")


def element_name(path: str, shape: tuple[int, ...], index: int) -> str:
    """Structured name of one element: rows first, counted from 1.

    Examples
    --------
    >>> element_name("strut.stiffness", (6,), 3), element_name("plate.R", (3, 3), 5)
    ('strut.stiffness[4]', 'plate.R[2,3]')
    """
    if not shape:
        return path
    subscripts = []
    for size in reversed(shape):
        subscripts.append(str(index % size + 1))
        index //= size
    return f"{path}[{','.join(reversed(subscripts))}]"


def without_subscripts(name: str) -> str:
    """The name of the array that an element belongs to.

    Examples
    --------
    >>> [without_subscripts(name) for name in ("plate.R[2,3]", "plate.R", "links[2].mass")]
    ['plate.R', 'plate.R', 'links[2].mass']
    """
    return SUBSCRIPTS.sub("", name)


def is_structured(name: str) -> bool:
    """Whether a name obeys the convention "structured".

    Examples
    --------
    >>> [is_structured(name) for name in ("strut_left.stiffness[4]", "der(strut_left.x)", "größe.x")]
    [True, True, False]
    """
    return STRUCTURED.fullmatch(name) is not None


def c_identifier(name: str) -> str:
    """A C identifier that resembles a name.

    Examples
    --------
    >>> c_identifier("engine mount"), c_identifier("3-link")
    ('engine_mount', '_3_link')
    """
    text = re.sub(r"[^A-Za-z0-9_]", "_", name) or "model"
    return f"_{text}" if text[0].isdigit() else text
