"""LLVM's text of lowered functions: for no machine in particular, and in a form that C can call.

numba's calling convention is described in `cosim_compiler.convention`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from cosim_compiler.llvm_text import with_code_edited

PLACEHOLDER = "cosim_lowered_function"
LETTERS = {"f": "double", "i": "i64", "v": "ptr"}
ITEM = 8
NAME = r'"[^"]+"|[-\w$.]+'
SYMBOL = re.compile(f"@({NAME})")
ARGUMENT = "arg."
# Where the numbers of the arrays lie that a function takes together, as one argument `a`.
TOGETHER = re.compile(r"ptr (?=[^,%]*%arg\.a\.\d+\.4[,)])")
LOCAL = re.compile(rf"(?<=%)(?:{NAME})|^(?:{NAME})(?=:)", re.MULTILINE)
# What LLVM calls the arguments of an inlined function whose memory is theirs alone.
SCOPE = re.compile(r'(?<=!)"_ZN[^"]*"')
DEFINITION = re.compile(rf"^(?:define\b[^@]*)?@(?P<name>{NAME})(?:\(| = )", re.MULTILINE)


def without_target(text: str, symbol: str) -> str:
    """The text of a freshly compiled module, its function called `PLACEHOLDER`, the same in every process.

    Parameters
    ----------
    text : str
        LLVM's text of one module.
    symbol : str
        What numba called the function.
    """
    return with_code_edited(SCOPE.sub('"inlined"', text), lambda code: _without_target(code, symbol))


def _without_target(text: str, symbol: str) -> str:
    text = re.sub(r"^(target|source_filename|\$).*\n", "", text, flags=re.MULTILINE)
    # Where numba's Python side keeps something about each function: nothing here reads it.
    text = re.sub(r"^@\"?_ZN08NumbaEnv.* = common .*\n", "", text, flags=re.MULTILINE)
    names = {symbol: PLACEHOLDER}
    for match in DEFINITION.finditer(text):
        names.setdefault(match["name"].strip('"'), f"{PLACEHOLDER}.{len(names)}")
    # numba's helpers of these names are the C library's functions, with the same arguments.
    names |= {f"numba_{name}": name for name in ("frexp", "ldexp")}
    text = SYMBOL.sub(lambda found: f"@{names.get(found[1].strip(chr(34)), found[1])}", text)
    text = re.sub(r" comdat(\(\$[^)]*\))?(?=[ ,\n])", "", text)
    # Names inside a function tell what was compiled before it: numba counts functions, LLVM equal names.
    names = {}

    def counted(found: re.Match[str]) -> str:
        name = found[0].strip('"')
        if name.isdigit() or name.startswith(ARGUMENT):
            return found[0]
        return names.setdefault(name, f"v{len(names)}")

    return LOCAL.sub(counted, text)


def apart(text: str) -> str:
    """The text with what LLVM may know of arrays that are taken together: no two of them share memory."""
    head = re.compile(rf"^define .*@{PLACEHOLDER}\(.*$", re.MULTILINE)
    return with_code_edited(
        text, lambda code: head.sub(lambda line: TOGETHER.sub("ptr noalias ", line[0]), code)
    )


def named(text: str, name: str) -> str:
    """The text with the function under a name of its own."""
    return with_code_edited(text, lambda code: code.replace(PLACEHOLDER, name))


def entry_point(
    name: str,
    function: str,
    signature: str,
    raised: int,
    known: Sequence[tuple[str | None, tuple[int, ...]] | None] | None = None,
) -> str:
    """A function that C can call, ``int64_t NAME(struct array *arrays, double t)``, around a lowered one.

    Parameters
    ----------
    name : str
        Of what C calls.
    function : str
        Name of the lowered function.
    signature : str
        Letters of arrays, then ``f``, and the result ``i``. The arrays of C are structures of three words:
        the address of the first number, how many rows, how many columns (of a table).
    raised : int
        Returned where the function raised.
    known : sequence of (str or None, shape) or None, optional
        For each array whose shape never changes: the shape, and the global of the module that takes its
        place, if one does. A loop over it is then one of a known length.

    Returns
    -------
    str
        LLVM's text.
    """
    letters, result = signature.split(">")
    if result != "i" or letters[-1] != "f" or set(letters[:-1]) - set("FIT"):
        raise ValueError(f"{signature!r} is no signature of an entry point")
    kinds, given, lines = ["ptr", "ptr"], ["ptr %result", "ptr %exception"], []
    for i, letter in enumerate(letters[:-1]):
        symbol, shape = (None, None) if known is None else known[i] or (None, None)
        data, rows, columns, items, stride = f"%data{i}", f"%n{i}", f"%m{i}", f"%n{i}", f"%stride{i}"
        if symbol is None:
            lines += _members(i, letter)
        else:
            data = f"@{symbol}"
        if shape is not None:
            rows, columns = str(shape[0]), str(shape[-1])
            items, stride = str(math.prod(shape)), str(ITEM * shape[-1])
        words = ["ptr null", "ptr null", f"i64 {items}", f"i64 {ITEM}", f"ptr {data}", f"i64 {rows}"]
        if letter == "T":
            words[2] = f"i64 %size{i}" if shape is None else words[2]
            words += [f"i64 {columns}", f"i64 {stride}"]
        given += [*words, f"i64 {ITEM}"]
        kinds += [word.split()[0] for word in [*words, "i64"]]
    given.append("double %t")
    kinds.append("double")
    return "\n".join(
        [
            f"declare i32 @{function}({', '.join(kinds)})",
            f"define i64 @{name}(ptr %arrays, double %t) {{",
            "  %result = alloca i64",
            "  %exception = alloca ptr",
            "  store i64 0, ptr %result",
            "  store ptr null, ptr %exception",
            *lines,
            f"  %status = call i32 @{function}({', '.join(given)})",
            "  %value = load i64, ptr %result",
            "  %good = icmp eq i32 %status, 0",
            f"  %answer = select i1 %good, i64 %value, i64 {raised}",
            "  ret i64 %answer",
            "}",
            "",
        ]
    )


def for_c(name: str, function: str, signature: str) -> str:
    """LLVM's text of a function that C can call, around a lowered one that takes and returns numbers."""
    letters, letter = signature.split(">")
    kinds = {**LETTERS, "v": "void"}
    given = ", ".join(f"{kinds[a]} %a{i}" for i, a in enumerate(letters))
    passed = ", ".join(["ptr", "ptr", *(kinds[a] for a in letters)])
    room = "i64" if letter == "v" else kinds[letter]
    answer = ["  ret void"]
    if letter != "v":
        answer = [f"  %value = load {room}, ptr %result", f"  ret {room} %value"]
    lines = [
        f"declare i32 @{function}({passed})",
        f"define {kinds[letter]} @{name}({given}) {{",
        f"  %result = alloca {room}",
        "  %exception = alloca ptr",
        f"  store {room} {'0.0' if room == 'double' else '0'}, ptr %result",
        "  store ptr null, ptr %exception",
        f"  %status = call i32 @{function}(ptr %result, ptr %exception{', ' * bool(given)}{given})",
        *answer,
        "}",
        "",
    ]
    return "\n".join(lines)


def _members(index: int, letter: str) -> list[str]:
    """Reading the structure of one array."""
    at = 3 * index
    lines = [
        f"  %p{index} = getelementptr i64, ptr %arrays, i64 {at}",
        f"  %data{index} = load ptr, ptr %p{index}",
        f"  %q{index} = getelementptr i64, ptr %arrays, i64 {at + 1}",
        f"  %n{index} = load i64, ptr %q{index}",
    ]
    if letter == "T":
        lines += [
            f"  %r{index} = getelementptr i64, ptr %arrays, i64 {at + 2}",
            f"  %m{index} = load i64, ptr %r{index}",
            f"  %size{index} = mul i64 %n{index}, %m{index}",
            f"  %stride{index} = mul i64 %m{index}, {ITEM}",
        ]
    return lines
