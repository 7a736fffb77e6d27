"""Calls of lowered functions by number, as text: who is called by which number, constants, declarations.

The names of what is called are the kernel's (`cosim.kit.name_of`): lowered functions have them in their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim.kit import BLOCK_SIGNATURE, name_of, without_strings

CALL = re.compile(r"@cosim_call_(\w+)_(\w)\b")
ITEM = 8


def called_signatures(texts: Iterable[str]) -> set[str]:
    """The signatures of what is called by numbers; blocks always are, by the walk."""
    found = {match.groups() for text in texts for match in CALL.finditer(without_strings(text))}
    return {BLOCK_SIGNATURE, *(f"{letters}>{result}" for letters, result in found)}


def global_name(array: str) -> str:
    """The symbol of a constant array."""
    return f"cosim_constant_{array}"


def words(letter: str, name: str = "") -> list[str]:
    """The arguments for one letter, with types, as numba's calling convention has them."""
    if letter in "fi":
        return [f"{'double' if letter == 'f' else 'i64'} %{name}"]
    columns = ["columns"] if letter == "T" else []
    integers = ["items", "item", "data", "rows", *columns, "stride", *("inner" for _ in columns)]
    return [
        f"{'ptr' if word in ('owner', 'parent', 'data') else 'i64'} %{name}.{word}"
        for word in ("owner", "parent", *integers)
    ]


def given(letter: str, data: str, rows: str | int) -> list[str]:
    """The same for a one-dimensional array that lies at `data`."""
    return [
        "ptr null", "ptr null", f"i64 {rows}", f"i64 {ITEM}", f"ptr {data}", f"i64 {rows}", f"i64 {ITEM}",
    ]  # fmt: skip


def parameters(letters: str, names: Sequence[str]) -> list[str]:
    """All words of a function's arguments."""
    return [word for letter, name in zip(letters, names, strict=True) for word in words(letter, name)]


def kinds(typed: Sequence[str]) -> str:
    """The types alone."""
    return ", ".join(word.split()[0] for word in typed)


def constant(name: str, array: NDArray[np.generic]) -> str:
    """An array as a global of the module."""
    flat = array.reshape(-1)
    kind = "double" if flat.dtype == np.float64 else "i64"
    if not flat.size or not flat.view(np.uint64).any():
        values = "zeroinitializer"
    elif kind == "double":
        values = f"[{', '.join(f'double 0x{bits:016X}' for bits in flat.view(np.uint64).tolist())}]"
    else:
        values = f"[{', '.join(f'i64 {value}' for value in flat.tolist())}]"
    return f"@{global_name(name)} = internal constant [{flat.size} x {kind}] {values}, align {ITEM}\n"


def declaration(name: str, signature: str) -> str:
    """Of a lowered function."""
    letters = signature.split(">")[0]
    typed = ["ptr %result", "ptr %exception", *parameters(letters, [f"a{i}" for i in range(len(letters))])]
    return f"declare i32 @{name}({kinds(typed)})\n"


def call_by_number(signature: str, functions: Mapping[str, int]) -> str:
    """The function that calls one of several of a signature, by its number.

    That of a block, whose answer is none, answers with the status, as `cosim.kit.call_block`.
    """
    letters, result = signature.split(">")
    names = [f"a{i}" for i in range(len(letters))]
    typed = parameters(letters, names)
    head = ", ".join(["ptr %result", "ptr %exception", "i64 %number", *typed])
    cases = " ".join(f"i64 {number}, label %call{number}" for number in functions.values())
    is_block = result == "v"
    lines = [
        f"define i32 @{name_of(signature)}({head}) {{",
        *(["  %nothing = alloca ptr"] if is_block and signature == BLOCK_SIGNATURE else []),
        f"  switch i64 %number, label %none [{cases}]",
    ]
    answers = signature == BLOCK_SIGNATURE
    for name, number in functions.items():
        place = "%nothing" if answers else "%result"
        lines += [
            f"call{number}:",
            f"  %status{number} = call i32 @{name}({', '.join([f'ptr {place}', 'ptr %exception', *typed])})",
        ]
        if answers:
            lines += [
                f"  %long{number} = sext i32 %status{number} to i64",
                f"  store i64 %long{number}, ptr %result",
                "  ret i32 0",
            ]
        else:
            lines.append(f"  ret i32 %status{number}")
    lines += [
        "none:",
        *(["  store i64 1, ptr %result"] if answers else []),
        f"  ret i32 {int(not answers)}",
        "}",
    ]
    return "\n".join([*lines, ""])
