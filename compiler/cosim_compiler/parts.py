"""Parts: functions that are compiled by themselves, as others call them."""

from __future__ import annotations

import types
from collections.abc import Iterator

from cosim_compiler.fingerprint import environment, is_replaced
from cosim_compiler.road import OWN_ROADS, road

BODY = "cosim_part"
"""What lowered code calls the part that the function around it (`in_process`) calls."""


def in_process(part: types.FunctionType) -> tuple[types.FunctionType, str]:
    """A part as it is compiled in a process, and its signature."""
    if road() in OWN_ROADS:
        return part, part.__dict__["__part__"]
    return part.__dict__["__by_address__"], "i" + part.__dict__["__part__"][1:]


def parts_called(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """The functions compiled by themselves that a function calls, itself or in helpers."""
    found, at = [function], 0
    while at < len(found):
        for value in environment(found[at]).values():
            if not isinstance(value, types.FunctionType) or value in found or is_replaced(value):
                continue
            if "__optional__" in value.__dict__:
                continue
            if "__part__" in value.__dict__:
                yield value
            else:
                found.append(value)
        at += 1
