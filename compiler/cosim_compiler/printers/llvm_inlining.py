"""Which helpers are written out where they are called.

A call passes views as words, keeps registers, and hides from LLVM what does not change from call to call: in
a loop over the stages of a method that is a sixth of the time. LLVM itself weighs each call apart, and goes
on to do so; here the growth of the whole text counts. What seldom runs
(`calls.rarely`), or is large (`calls.never_inlined`), is not written out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cosim_compiler.calls import APART, RARE
from cosim_compiler.language.typed_form import Function
from cosim_compiler.printers.llvm_types import returns_tuple

MOST_GROWTH = 220
"""Lines of text that writing out one helper may add."""

Size = tuple[Function, int, Counter[str]]
"""A function, its lines, and how often it calls which others."""


def is_rare(function: Function) -> bool:
    """Whether its author says that it seldom runs."""
    return RARE in function.author.__dict__


def is_never_inlined(function: Function) -> bool:
    """Whether its author says that it is never written out."""
    return is_rare(function) or APART in function.author.__dict__


def written_out(sizes: Sequence[Size]) -> set[str]:
    """The symbols of those to write out at each call; each function stands behind those that it calls."""
    calls: Counter[str] = Counter()
    for _, _, called in sizes:
        calls.update(called)
    symbols: set[str] = set()
    lines: dict[str, int] = {}
    for function, own_lines, called in sizes:
        if is_never_inlined(function):
            continue
        inlined_lines = sum(times * lines[symbol] for symbol, times in called.items() if symbol in symbols)
        lines[function.symbol] = own_lines + inlined_lines
        growth = lines[function.symbol] * (calls[function.symbol] - 1)
        if returns_tuple(function) or growth <= MOST_GROWTH:
            symbols.add(function.symbol)
    return symbols
