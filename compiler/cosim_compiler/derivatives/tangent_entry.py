"""The function through which callers outside the text of a tangent call it.

Inside the text a tangent takes one name for each direction of an argument. From outside, the tangents of an
argument along several directions are one view, and those of a result are written to a view, `rate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cosim_compiler.errors import NoTangentError
from cosim_compiler.language.types import NOTHING, REAL, Type, View, types_of


class TangentEntry(NamedTuple):
    """The way in which a tangent is called from outside its text.

    Attributes
    ----------
    signature : str
        Of the function whose tangent it is.
    has_tangents : sequence of bool
        For each argument, whether the caller passes tangents of it.
    varying : sequence of bool
        For each argument, whether the tangent reads them.
    rate_varies : bool
        Whether the result is a real whose tangent is not always 0.
    directions : int
    lanes : int
        For how many lanes tangents are numbers; 0: they are single numbers.
    """

    signature: str
    has_tangents: Sequence[bool]
    varying: Sequence[bool]
    rate_varies: bool
    directions: int
    lanes: int


def write_tangent_entry(entry: TangentEntry, tangent: str) -> list[str]:
    """The lines of the function ``tangent``, which calls the tangent of this name in the text."""
    kinds, result = types_of(entry.signature)
    parameters = [f"x{i}" for i in range(len(kinds))]
    passed = list(parameters)
    for i, kind in enumerate(kinds):
        if entry.has_tangents[i]:
            parameters.append(f"x{i}_dot")
        if entry.varying[i] and entry.lanes > 0:
            passed.append(_tangents_in_lanes(i, kind, entry.lanes))
        elif entry.varying[i]:
            passed += [_tangent_along(i, kind, k, entry.directions) for k in range(entry.directions)]
    if result is REAL:
        parameters.append("rate")
    lines = _lines_of_call(entry, f"{tangent}({', '.join(passed)})", result)
    return [f"def tangent({', '.join(parameters)}):", *(f"    {line}" for line in lines)]


def entry_signature(entry: TangentEntry) -> str:
    """The signature of the function that `write_tangent_entry` writes."""
    letters, answer = entry.signature.split(">")
    _, result = types_of(entry.signature)
    is_alone = entry.directions == 1 and entry.lanes == 0
    pairs = zip(letters, entry.has_tangents, strict=True)
    dots = "".join(letter if is_alone else "F" for letter, has_tangents in pairs if has_tangents)
    return f"{letters}{dots}{'F' if result is REAL else ''}>{answer}"


def _lines_of_call(entry: TangentEntry, call: str, result: Type) -> list[str]:
    """The statements that call the tangent, write its rates, and return its value."""
    if result is NOTHING:
        return [call]
    directions = range(entry.directions)
    if entry.rate_varies:
        rates = ", ".join(f"rate_{k}" for k in directions)
        lines = [f"value, {rates} = {call}", *(f"rate[{k}] = rate_{k}" for k in directions)]
    else:
        lines = [f"value = {call}", *(f"rate[{k}] = 0.0" for k in directions if result is REAL)]
    return [*lines, "return value"]


def _tangents_in_lanes(i: int, kind: Type, lanes: int) -> str:
    """The tangents of an argument in all lanes."""
    if isinstance(kind, View) and kind.axes != 1:
        raise NoTangentError("tables have no tangents in lanes")
    view = f"in_lanes(x{i}_dot, {lanes})"
    return view if isinstance(kind, View) else f"{view}[0]"


def _tangent_along(i: int, kind: Type, k: int, directions: int) -> str:
    """The tangent of an argument along direction k."""
    if directions == 1:
        return f"x{i}_dot"
    if not isinstance(kind, View):
        return f"x{i}_dot[{k}]"
    if kind.axes == 1:
        return f"x{i}_dot[{k} * len(x{i}) : {k + 1} * len(x{i})]"
    size = f"x{i}.shape[0] * x{i}.shape[1]"
    return f"as_table(x{i}_dot[{k} * {size} : {k + 1} * {size}], x{i}.shape[0], x{i}.shape[1])"
