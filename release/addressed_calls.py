"""What lowered functions call by name, as a library that is loaded into a process has it: calls by addresses.

The definitions are LLVM's text, in numba's calling convention. They are inlined wherever they are called,
but for functions that have a name of their own: a walk hands each block some fifty words through the stack.
In the large frame of a method its own words may lie so that a processor takes one for another (1,024 bytes
apart on an AMD EPYC with AVX-512: runs by Merson's method took 1.3 times as long).
"""

from __future__ import annotations

import types
from collections.abc import Iterator

from cosim_compiler import lowered_code, shipped
from cosim_compiler.calls import BY_NAME, INDIRECT, STATUS, name_of
from cosim_compiler.convention import compounds
from cosim_compiler.fingerprint import environment, is_replaced
from cosim_compiler.parts import in_process
from cosim_compiler.with_numba import fresh
from cosim_fmu.lowering.numbered_calls import words

INLINED, APART = "alwaysinline", "noinline"
UNREAD = ("owner", "parent", "item")
"""Words of an array that nothing reads: a call by address need not store them."""


def called(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """What a function calls by name: itself, in helpers, and in functions that have a name of their own."""
    found, at = [function], 0
    while at < len(found):
        one = found[at]
        is_marked = at > 0 and not {"__part__", BY_NAME, STATUS, INDIRECT}.isdisjoint(one.__dict__)
        if is_marked:
            yield one
        if "__part__" not in one.__dict__ and not is_replaced(one):
            inner = (value for value in environment(one).values() if isinstance(value, types.FunctionType))
            found += [value for value in dict.fromkeys(inner) if value not in found]
        at += 1


def with_name(text: str, name: str, attribute: str) -> str:
    """The text of a lowered function under a name of its own, `INLINED` or `APART`."""
    before, call, after = lowered_code.named(text, name).partition(f"@{name}(")
    head, brace, body = after.partition(" {\n")
    return f"{before}{call}{head} {attribute}{brace}{body}"


def by_address(function: types.FunctionType) -> str:
    """The text of what calls a part, or what is at an address, in place of a function that is so marked."""
    marks = function.__dict__
    if "__part__" in marks:
        return _part(function)
    signature = marks.get(STATUS) or marks[INDIRECT]
    letters = signature.split(">")[0]
    given = ["i64 %address", *(word for words in _arguments(letters) for word in words)]
    lines = ["  %function = inttoptr i64 %address to ptr"]
    if INDIRECT in marks:
        lines += [_call("%function", given[1:]), "  ret i32 %status"]
    else:
        passed = [f"{w.split()[0]} undef" if w.endswith(UNREAD) else w for w in given[1:]]
        lines += [
            _call("%function", passed, "%nothing"),
            "  %answer = sext i32 %status to i64",
            "  store i64 %answer, ptr %result",
            "  ret i32 0",
        ]
        lines.insert(0, "  %nothing = alloca ptr")
    return _definition(name_of(signature), given, lines)


def _part(part: types.FunctionType) -> str:
    """With the address of a head in place of all arrays; what only some runs need may be missing."""
    arrays, *more = _arguments(part.__dict__["__part__"].split(">")[0])
    passed = ["i64 %head", *(word for words in more for word in words)]
    listed = [word for word in arrays if word.endswith(".data")][part.__dict__["__head__"][0]].split()[1]
    callee, lines = f"@{shipped.symbol(*in_process(part))}", []
    if "__optional__" in part.__dict__:
        callee = "%function"
        lines = [
            *_loaded("address", listed, part.__dict__["__optional__"][1]),
            "  %is_there = icmp ne i64 %address, 0",
            "  br i1 %is_there, label %there, label %missing",
            "missing:",
            "  ret i32 0",
            "there:",
            "  %function = inttoptr i64 %address to ptr",
        ]
    lines += [
        *_loaded("head", listed, part.__dict__["__head__"][1]),
        _call(callee, passed),
        "  ret i32 %status",
    ]
    given = [*arrays, *passed[1:]]
    text = _definition(fresh.part_name(part), given, lines)
    if callee.startswith("@"):
        text += f"declare i32 {callee}({', '.join(w.split()[0] for w in ['ptr', 'ptr', *passed])})\n"
    return text


def _arguments(letters: str) -> list[list[str]]:
    """The typed words of each argument; a named tuple has those of all its members."""
    return [
        [word for k, inner in enumerate(compounds[letter][1]) for word in words(inner, f"a{i}.{k}")]
        if letter in compounds
        else words(letter, f"a{i}")
        for i, letter in enumerate(letters)
    ]


def _loaded(name: str, array: str, at: int) -> list[str]:
    place = f"  %{name}.place = getelementptr i64, ptr {array}, i64 {at}"
    return [place, f"  %{name} = load i64, ptr %{name}.place"]


def _call(callee: str, passed: list[str], result: str = "%result") -> str:
    return f"  %status = call i32 {callee}({', '.join([f'ptr {result}', 'ptr %exception', *passed])})"


def _definition(name: str, given: list[str], lines: list[str]) -> str:
    head = ", ".join(["ptr %result", "ptr %exception", *given])
    return "\n".join([f"define i32 @{name}({head}) {INLINED} {{", *lines, "}", ""])
