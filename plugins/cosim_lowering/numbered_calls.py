"""Calls of lowered functions by number, as text: callees, constants, declarations.

The functions that call have the names that `cosim.kit.name_of` gives them, since these stand in the text of
lowered functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim.kit import BLOCK_SIGNATURE, TANGENT_SIGNATURE, name_of

CALL = re.compile(r"@cosim_call_(\w+)_(\w)\b")
ITEM = 8
WORDS = {
    **{"f": ("double",), "i": ("i64",)},
    **{"F": ("ptr", "i64"), "I": ("ptr", "i64"), "T": ("ptr", "i64", "i64")},
}
"""The words of an argument, by its letter: an array has its address and its lengths."""
PARTS = ("", ".rows", ".columns")
"""Suffixes of an argument's name for each of its words."""


def called_signatures(texts: Iterable[str]) -> set[str]:
    """The signatures of functions that are called by numbers; those of blocks always are, by the walk."""
    calls = {match.groups() for text in texts for match in CALL.finditer(text)}
    return {BLOCK_SIGNATURE, *(f"{letters}>{result}" for letters, result in calls)}


def global_name(array: str) -> str:
    """The symbol of a constant array."""
    return f"cosim_constant_{array}"


def parameters(letters: str, names: Sequence[str]) -> list[str]:
    """The words of a function's arguments, with their types."""
    return [
        f"{word} %{name}{part}"
        for letter, name in zip(letters, names, strict=True)
        for word, part in zip(WORDS[letter], PARTS, strict=False)
    ]


def kinds(typed: Sequence[str]) -> str:
    """The types of typed parameters, without their names."""
    return ", ".join(word.split()[0] for word in typed)


def constant(name: str, array: NDArray[np.generic], linkage: str = "") -> str:
    """An array as a constant of a module."""
    flat = array.reshape(-1)
    kind = "double" if flat.dtype == np.float64 else "i64"
    if not flat.size or not flat.view(np.uint64).any():
        values = "zeroinitializer"
    elif kind == "double":
        values = f"[{', '.join(f'double 0x{bits:016X}' for bits in flat.view(np.uint64).tolist())}]"
    else:
        values = f"[{', '.join(f'i64 {value}' for value in flat.tolist())}]"
    kept = f"{linkage} constant".strip()
    return f"@{global_name(name)} = {kept} [{flat.size} x {kind}] {values}, align {ITEM}\n"


def declaration(name: str, signature: str) -> str:
    """The declaration of a lowered function."""
    letters = signature.split(">")[0]
    typed = ["ptr %result", *parameters(letters, [f"a{i}" for i in range(len(letters))])]
    return f"declare i32 @{name}({kinds(typed)})\n"


def call_by_number(signature: str, functions: Mapping[str, int]) -> str:
    """The function that calls one of several functions of a signature, by its number.

    Blocks and their tangents have no result: the function that calls them returns their status in its place,
    as `cosim.kit.call_block` does.
    """
    letters = signature.split(">")[0]
    typed = parameters(letters, [f"a{i}" for i in range(len(letters))])
    cases = " ".join(f"i64 {number}, label %call{number}" for number in functions.values())
    is_block = signature in (BLOCK_SIGNATURE, TANGENT_SIGNATURE)
    lines = [
        f"define i32 @{name_of(signature)}({', '.join(['ptr %result', 'i64 %number', *typed])}) {{",
        *(["  %nothing = alloca ptr"] if is_block else []),
        f"  switch i64 %number, label %none [{cases}]",
    ]
    place = "%nothing" if is_block else "%result"
    for name, number in functions.items():
        lines += [
            f"call{number}:",
            f"  %status{number} = call i32 @{name}({', '.join([f'ptr {place}', *typed])})",
        ]
        if is_block:
            lines += [
                f"  %long{number} = sext i32 %status{number} to i64",
                f"  store i64 %long{number}, ptr %result",
                "  ret i32 0",
            ]
        else:
            lines.append(f"  ret i32 %status{number}")
    lines += [
        "none:",
        *(["  store i64 1, ptr %result"] if is_block else []),
        f"  ret i32 {int(not is_block)}",
        "}",
    ]
    return "\n".join([*lines, ""])
