"""Functions marked as rarely called or never inlined exist once in machine code and compute the same."""

from __future__ import annotations

import types

from language_tools import compiled

from cosim_compiler.calls import never_inlined, rarely
from cosim_compiler.code import text_for_llvm
from cosim_compiler.fingerprint import fingerprint
from cosim_compiler.language.program import Program

MARKS = rarely, never_inlined


def sorted_pair(x, y):
    return (x, y) if x > y else (y, x)


@rarely
def rarely_sorted_pair(x, y):
    return (x, y) if x > y else (y, x)


@never_inlined
def never_inlined_sorted_pair(x, y):
    return (x, y) if x > y else (y, x)


def calls_all_three(x, y):
    a, b = sorted_pair(x, y)
    c, d = rarely_sorted_pair(x, y)
    e, f = never_inlined_sorted_pair(x, y)
    return 32.0 * e + 16.0 * f + 8.0 * a + 4.0 * b + 2.0 * c + d


def definition_of(text: str, symbol: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("define") and f"@{symbol}(" in line)


def test_only_unmarked_functions_are_inlined() -> None:
    program = Program()
    text = text_for_llvm(program, [("entry", program.root(calls_all_three, "ff>f"), "ff>f")])
    assert "alwaysinline" in definition_of(text, "k.sorted_pair")
    assert "alwaysinline" not in definition_of(text, "k.rarely_sorted_pair")
    assert "cold noinline" in definition_of(text, "k.rarely_sorted_pair")
    never_inlined_definition = definition_of(text, "k.never_inlined_sorted_pair")
    assert "noinline" in never_inlined_definition and "cold" not in never_inlined_definition


def test_marked_functions_compute_the_same() -> None:
    called = compiled(calls_all_three, "ff>f")
    for x, y in ((1.0, 2.0), (2.0, 1.0), (0.0, 0.0), (-0.0, 0.0)):
        assert called(x, y) == calls_all_three(x, y)


def test_a_mark_changes_the_digest() -> None:
    plain = types.FunctionType(sorted_pair.__code__, globals(), "sorted_pair")
    marked = [mark(types.FunctionType(sorted_pair.__code__, globals(), "sorted_pair")) for mark in MARKS]
    assert len({fingerprint(function) for function in (plain, *marked)}) == 3
