"""Texts, numbers and tables as C."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Sized
from itertools import groupby

MANY_ZEROS = 12
"""That many zeros in a row, or more, are left out of an array."""


def c_text(text: str) -> str:
    r"""A string of C.

    Examples
    --------
    >>> print(c_text('a "b" ?'))
    "a \"b\" \077"
    """
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else _escaped(byte)
        for byte in text.encode()
    )
    return f'"{plain}"'


def _escaped(byte: int) -> str:
    return f"\\{chr(byte)}" if chr(byte) in '"\\' else f"\\{byte:03o}"


def c_real(value: float) -> str:
    """A number of C, to the last bit.

    Examples
    --------
    >>> c_real(0.1), c_real(-2.0), c_real(-math.inf)
    ('0.1', '-2.0', '-INFINITY')
    """
    if math.isfinite(value):
        return repr(float(value))
    return "NAN" if math.isnan(value) else "INFINITY" if value > 0.0 else "-INFINITY"


def c_integer(value: int) -> str:
    """A 64-bit integer of C."""
    return "INT64_MIN" if value == -(2**63) else str(value) if abs(value) < 2**31 else f"INT64_C({value})"


def c_table(kind: str, name: str, rows: Iterable[str], length: int | None = None) -> str:
    """A table of C; empty text if it has no rows."""
    listed = list(rows)
    if not listed:
        return ""
    lines, line = [], "   "
    for row in listed:
        if len(line) + len(row) > 118:
            lines.append(line)
            line = "   "
        line += f" {row},"
    size = "" if length is None else length
    return f"static const {kind} {name}[{size}] = {{\n" + "\n".join([*lines, line]) + "\n};\n"


def c_start(kind: str, name: str, cells: Sequence[str], zero: str) -> str:
    """A table of the start values of an array; many zeros in a row are left out, and a place follows them."""
    entries: list[str] = []
    place, is_behind_zeros = 0, False
    for is_zero, run in groupby(cells, zero.__eq__):
        numbers = list(run)
        if is_zero and len(numbers) >= MANY_ZEROS:
            is_behind_zeros = True
        else:
            first = f"[{place}] = {numbers[0]}" if is_behind_zeros else numbers[0]
            entries += [first, *numbers[1:]]
            is_behind_zeros = False
        place += len(numbers)
    return c_table(kind, f"start_{name}", entries, len(cells))


def name_or_null(name: str, rows: Sized) -> str:
    """The name of a table, or NULL if it has no rows."""
    return name if len(rows) else "NULL"
