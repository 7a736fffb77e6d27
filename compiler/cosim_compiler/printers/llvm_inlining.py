"""Decides which helpers are always inlined.

A call costs time: it passes views as several words, saves registers, and hides from LLVM what stays the same
from call to call. In a loop over the stages of a method this is a sixth of the time. LLVM decides for each
call by itself; here the growth of the whole text counts. A helper that seldom runs (`calls.rarely`) or is
large (`calls.never_inlined`) is not inlined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cosim_compiler.calls import APART, RARE
from cosim_compiler.language.typed_form import Function
from cosim_compiler.printers.llvm_types import returns_tuple

MOST_GROWTH = 220
"""Lines of text that inlining one helper may add altogether."""


class FunctionSize(NamedTuple):
    """A function, the number of its lines, and how often it calls others, by their symbols."""

    function: Function
    lines: int
    called: Counter[str]


def is_rare(function: Function) -> bool:
    """Whether its author says that it seldom runs."""
    return RARE in function.author.__dict__


def is_never_inlined(function: Function) -> bool:
    """Whether its author says that it is never inlined."""
    return is_rare(function) or APART in function.author.__dict__


def inlined_symbols(sizes: Sequence[FunctionSize]) -> set[str]:
    """The symbols of functions that are inlined; each function stands behind those that it calls."""
    calls: Counter[str] = Counter()
    for size in sizes:
        calls.update(size.called)
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
