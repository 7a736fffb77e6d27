"""Parts of a C file for libraries without Python: tables, structures, places of functions, library names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from cosim_compiler.language.builtins import OF_C_LIBRARY
from cosim_compiler.language.known_arrays import KnownArray
from cosim_compiler.printers.c_names import real, whole

LINE = 110
"""Characters at most in a line of a table."""
LONGEST_HEAD = 130
"""Characters at most in the first line of a function with its place."""
WORD = re.compile(r"\w+")
OF_C_LIBRARY_ALONE = """\
/* Functions of the C library have names that compilers do not know: they compute nothing of them. */
#if defined(__GNUC__) && defined(__ELF__)
{}
#endif
"""


def with_place(text: str, place: str) -> str:
    """A function with a comment that says its place: behind its first line, or before it if that is long."""
    head, *others = text.split("\n")
    if others and len(head) + len(place) > LONGEST_HEAD:
        return f"{place}\n{text}"
    return "\n".join([f"{head} {place}", *others])


def with_their_rows(structures: Mapping[str, str]) -> list[str]:
    """The structures; that of the rows of a record stands in the line of the record."""
    lines: list[str] = []
    previous = ""
    for name, text in structures.items():
        is_of_rows = previous == f"rows_{name}"
        lines = [*lines[:-1], f"{lines[-1]} {text}"] if is_of_rows else [*lines, text]
        previous = name
    return lines


def without_uncalled(texts: dict[str, str], removable: set[str]) -> dict[str, str]:
    """Functions by their names, without removable ones that no other calls and what only these call."""
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
    """Lines that give other names to the functions of the C library that a text calls."""
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
    """The declarations of an array that no run changes, and of a view of it; none for other arrays."""
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
