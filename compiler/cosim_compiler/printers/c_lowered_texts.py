"""The texts of a C file for libraries without Python: tables, structures, and functions that are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from cosim_compiler.language.builtins import OF_C_LIBRARY
from cosim_compiler.language.known_arrays import KnownArray
from cosim_compiler.printers.c_names import real, whole

LINE = 110
LONGEST_HEAD = 130
"""Letters of a line of a table, and of the first line of a function with its place."""
WORD = re.compile(r"\w+")
OF_C_LIBRARY_ALONE = """\
/* Functions of the C library have names that compilers do not know: they compute nothing of them. */
#if defined(__GNUC__) && defined(__ELF__)
{}
#endif
"""


def with_place(text: str, place: str) -> str:
    """A function with where it stands: behind its first line, or before it where that would be long."""
    head, *others = text.split("\n")
    if others and len(head) + len(place) > LONGEST_HEAD:
        return f"{place}\n{text}"
    return "\n".join([f"{head} {place}", *others])


def with_their_rows(structures: Mapping[str, str]) -> list[str]:
    """The structures; what holds rows of a record stands beside it."""
    lines: list[str] = []
    rows = ""
    for name, text in structures.items():
        lines = [*lines[:-1], f"{lines[-1]} {text}"] if rows == f"rows_{name}" else [*lines, text]
        rows = name
    return lines


def without_unread(texts: dict[str, str], removable: set[str]) -> dict[str, str]:
    """Functions by their names, without those that no other calls any more, and what these alone called."""
    counts = Counter(word for text in texts.values() for word in set(WORD.findall(text)))
    removed = True
    while removed:
        removed = False
        for name in [name for name in removable if name in texts and counts[name] == 1]:
            words = set(WORD.findall(texts.pop(name)))
            counts.subtract(words)
            removable = removable | (words & texts.keys())
            removed = True
    return texts


def library_names(text: str) -> str:
    """Other names for the functions of the C library that a text calls."""
    lines = []
    for name, count in OF_C_LIBRARY.items():
        if re.search(rf"\b{name}\(", text):
            arguments = ", ".join(["double"] * count)
            lines += [
                f'double library_{name}({arguments}) __asm__("{name}");',
                f"#define {name} library_{name}",
            ]
    return OF_C_LIBRARY_ALONE.format("\n".join(lines)) if lines else ""


def table_of(name: str, array: KnownArray) -> list[str]:
    """An array that no run changes, as a view."""
    if array.numbers is None:
        return []
    is_real = any(isinstance(number, float) for number in array.numbers)
    cells = [(real if is_real else whole)(number) for number in array.numbers] or ["0"]
    lines, line = [], ""
    for cell in cells:
        if line and len(line) + len(cell) > LINE:
            lines.append(line)
            line = ""
        line += f"{cell}, " if line else f"    {cell}, "
    kind = "table" if array.columns > 1 else "reals" if is_real else "integers"
    item = "double" if is_real else "int64_t"
    lengths = f"{array.length}, {array.columns}" if array.columns > 1 else str(array.length)
    numbers = "\n".join(text.rstrip() for text in [*lines, line])
    return [
        f"static const {item} constant_{name}[] = {{\n{numbers}\n}};",
        f"static const {kind} model_{name} = {{({item} *)constant_{name}, {lengths}}};",
    ]
