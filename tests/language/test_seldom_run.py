"""A function that seldom runs, or is large, stands once in machine code, and computes the same."""

from __future__ import annotations

import types

from language_tools import compiled

from cosim_compiler.calls import never_inlined, rarely
from cosim_compiler.code import text_for_llvm
from cosim_compiler.fingerprint import fingerprint
from cosim_compiler.language.program import Program

MARKS = rarely, never_inlined


def larger(x, y):
    return (x, y) if x > y else (y, x)


@rarely
def seldom_larger(x, y):
    return (x, y) if x > y else (y, x)


@never_inlined
def apart_larger(x, y):
    return (x, y) if x > y else (y, x)


def with_either(x, y):
    a, b = larger(x, y)
    c, d = seldom_larger(x, y)
    e, f = apart_larger(x, y)
    return 32.0 * e + 16.0 * f + 8.0 * a + 4.0 * b + 2.0 * c + d


def head_of(text: str, symbol: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("define") and f"@{symbol}(" in line)


def test_it_is_not_written_out_where_it_is_called() -> None:
    program = Program()
    text = text_for_llvm(program, [("entry", program.root(with_either, "ff>f"), "ff>f")])
    assert "alwaysinline" in head_of(text, "k.larger")
    assert "alwaysinline" not in head_of(text, "k.seldom_larger")
    assert "cold noinline" in head_of(text, "k.seldom_larger")
    apart = head_of(text, "k.apart_larger")
    assert "noinline" in apart and "cold" not in apart


def test_it_computes_the_same() -> None:
    called = compiled(with_either, "ff>f")
    for x, y in ((1.0, 2.0), (2.0, 1.0), (0.0, 0.0), (-0.0, 0.0)):
        assert called(x, y) == with_either(x, y)


def test_the_mark_changes_its_digest() -> None:
    plain = types.FunctionType(larger.__code__, globals(), "larger")
    marked = [mark(types.FunctionType(larger.__code__, globals(), "larger")) for mark in MARKS]
    assert len({fingerprint(function) for function in (plain, *marked)}) == 3
