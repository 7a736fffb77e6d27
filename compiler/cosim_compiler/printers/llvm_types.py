"""The types of the language in LLVM's text, in registers and in calls."""

from __future__ import annotations

import functools
import struct

from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import (
    LANE_TRUTHS,
    LANES,
    NOTHING,
    REAL,
    TRUTH,
    WHOLE,
    Group,
    Number,
    Record,
    RecordRows,
    Tuple,
    Type,
    View,
    is_for_lanes,
)

NUMBERS = {
    REAL: "double", WHOLE: "i64", TRUTH: "i1", NOTHING: "void",
    **{lanes: f"<{count} x double>" for count, lanes in LANES.items()},
    **{truths: f"<{count} x i1>" for count, truths in LANE_TRUTHS.items()},
}  # fmt: skip
STATUS = "i32"


@functools.cache
def llvm_type(type_: Type) -> str:
    """A type in a register: a view is its address and its lengths, a group the address of its table."""
    if isinstance(type_, Number):
        return NUMBERS[type_]
    if isinstance(type_, View):
        return "{ptr, i64}" if type_.axes == 1 else "{ptr, i64, i64}"
    if isinstance(type_, (Group, Record)):
        return "ptr"
    if isinstance(type_, RecordRows):
        return "{ptr, i64}"
    return "{" + ", ".join(map(llvm_type, type_.items)) + "}"


def words_of(type_: Type) -> list[str]:
    """The parts in which a value is passed: items, addresses, lengths; unused ones can be dropped."""
    if isinstance(type_, View):
        return ["ptr", *["i64"] * type_.axes]
    if isinstance(type_, Tuple):
        return [word for item in type_.items for word in words_of(item)]
    return ["ptr", "i64"] if isinstance(type_, RecordRows) else [llvm_type(type_)]


def returned(function: Function) -> str:
    """The return type of a function: its result, after a status if it may raise."""
    if not function.raises:
        return llvm_type(function.result)
    return STATUS if function.result is NOTHING else f"{{{STATUS}, {llvm_type(function.result)}}}"


def zero_of(type_: Type) -> str:
    """A constant of any type whose bits are 0."""
    if isinstance(type_, Number):
        if is_for_lanes(type_):
            return "zeroinitializer"
        return {REAL: "0.0", WHOLE: "0", TRUTH: "false"}.get(type_, "")
    return "null" if isinstance(type_, (Group, Record)) else "zeroinitializer"


def real(value: float) -> str:
    """A double, by its bits."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def constant(type_: Type, value: object) -> str:
    """A number as a constant of LLVM's IR."""
    if type_ is REAL:
        return real(float(value))  # type: ignore[arg-type]
    if type_ is TRUTH:
        return "true" if value else "false"
    return str(value)


def alignment(type_: Type) -> str:
    """What stands behind an access to an element: numbers for each lane may begin at any real."""
    return ", align 8" if is_for_lanes(type_) else ""


def returns_tuple(function: Function) -> bool:
    """Whether a function returns a tuple, which costs nothing only if the function is inlined."""
    return isinstance(function.result, Tuple)
