"""The entry points for C, ``int64_t NAME(Array *arrays, double t)``, as LLVM's text around functions.

`Array` is the shell's: the address of the first number, how many rows, how many columns (of a table).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from cosim.kit import ARRAYS, CARRIED_ENTRY_SIGNATURE, ENTRY_SIGNATURE, data_of, length_of

WORDS_OF_ARRAY = 3
ITEM = 8


def entry_point(name: str, function: str, signature: str, raised: int) -> str:
    """The entry point around a lowered function, which takes a run, a run with its tangents, or some arrays.

    It returns `raised` where the function raised.
    """
    letters, result = signature.split(">")
    lines, arguments = [], ["ptr %result"]
    if signature == ENTRY_SIGNATURE:
        arguments.append("ptr %arrays")
    elif signature == CARRIED_ENTRY_SIGNATURE:
        lines.append(f"  %tangents = getelementptr i64, ptr %arrays, i64 {WORDS_OF_ARRAY * len(ARRAYS)}")
        arguments += ["ptr %arrays", "ptr %tangents"]
    elif result != "i" or letters[-1] != "f" or set(letters[:-1]) - set("FI"):
        raise ValueError(f"{signature!r} is not a signature of an entry point")
    else:
        for i in range(len(letters) - 1):
            lines += [*_loaded("ptr", f"%data{i}", WORDS_OF_ARRAY * i)]
            lines += [*_loaded("i64", f"%rows{i}", WORDS_OF_ARRAY * i + 1)]
            arguments += [f"ptr %data{i}", f"i64 %rows{i}"]
    arguments.append("double %t")
    return "\n".join(
        [
            f"declare i32 @{function}({', '.join(word.split()[0] for word in arguments)})",
            f"define i64 @{name}(ptr %arrays, double %t) {{",
            "  %result = alloca i64",
            "  store i64 0, ptr %result",
            *lines,
            f"  %status = call i32 @{function}({', '.join(arguments)})",
            "  %value = load i64, ptr %result",
            "  %good = icmp eq i32 %status, 0",
            f"  %answer = select i1 %good, i64 %value, i64 {raised}",
            "  ret i64 %answer",
            "}",
            "",
        ]
    )


def group_of_arrays(
    group: type,
    arrays: Mapping[str, NDArray[np.generic]],
    constants: Mapping[str, str],
    grows: Collection[str],
) -> str:
    """The text by which lowered functions find the arrays of a group among those of the shell.

    Parameters
    ----------
    group : type
        The named tuple.
    arrays : mapping of str to ndarray
        The arrays at the start of a run, in the order of the group. Their lengths become part of the text.
    constants : mapping of str to str
        The symbols of arrays that the module has itself.
    grows : collection of str
        Names of arrays that become longer, so that their lengths are read from the shell.
    """
    parts = []
    for i, name in enumerate(arrays):
        data, rows = [f"  %data = bitcast ptr @{constants[name]} to ptr"] if name in constants else [], []
        length = str(len(arrays[name]))
        if name not in constants:
            data = _loaded("ptr", "%data", WORDS_OF_ARRAY * i)
        if name in grows:
            rows, length = _loaded("i64", "%rows", WORDS_OF_ARRAY * i + 1), "%rows"
        parts += [
            f"define ptr @{data_of(group, name)}(ptr %arrays) alwaysinline {{",
            *[*data, "  ret ptr %data", "}"],
            f"define i64 @{length_of(group, name)}(ptr %arrays) alwaysinline {{",
            *[*rows, f"  ret i64 {length}", "}"],
        ]
    return "\n".join([*parts, ""])


def _loaded(kind: str, name: str, word: int) -> list[str]:
    """Lines that read a word of the arrays; no word changes while an entry point runs."""
    return [
        f"  {name}.at = getelementptr i64, ptr %arrays, i64 {word}",
        f"  {name} = load {kind}, ptr {name}.at, align {ITEM}, !invariant.load !0",
    ]
