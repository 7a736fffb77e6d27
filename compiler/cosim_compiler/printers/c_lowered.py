"""Functions for libraries without Python, as C; as `llvm_lowered`.

The arrays of a group are known in part (`language.known_arrays`), and so are the functions that are called by
numbers: a call whose number is known is a call of that function.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosim_compiler.calls import name_of
from cosim_compiler.language.known_arrays import KnownArray
from cosim_compiler.language.program import Program
from cosim_compiler.language.simplifier import Simplifier
from cosim_compiler.language.types import types_of
from cosim_compiler.printers import c99
from cosim_compiler.printers.c_lowered_texts import (
    library_names,
    table_of,
    with_place,
    with_their_rows,
    without_unread,
)
from cosim_compiler.printers.c_lowered_writer import KnownCalls, LoweredWriter, only_finds
from cosim_compiler.printers.c_names import NUMBERS, VIEWS
from cosim_compiler.printers.llvm_lowered import linked_by_name

ROUNDED_APART = """\
/* A product and a sum are two roundings. */
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FP_FAST_FMA)
#pragma GCC optimize("fp-contract=off")
#endif
/* Each operation rounds to 64 bits, which the x87 of 32-bit processors does not. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__i386__)
#pragma GCC target("sse2,fpmath=sse")
#endif
"""
Wanted = Mapping[str, tuple[types.FunctionType, str]]


@dataclass
class LoweredC:
    """A file of C in parts.

    Attributes
    ----------
    head : str
        What all such files begin with.
    types : list of str
        Structures, in an order in which each stands behind those that it needs.
    tables : list of str
        Arrays that no run changes, and what functions have of their own.
    functions : list of str
    names : dict of str to str
        What wanted functions are called in it.
    rows : dict of str to (str, list of str)
        What functions for known rows are called in it, and which of its arguments it still takes.
    raising : set of str
        The names in C of those that return a status.
    called : dict of str to str
        Signature of each function that is called by a symbol, or by a number that only a run knows.
    """

    head: str
    types: list[str]
    tables: list[str]
    functions: list[str]
    names: dict[str, str]
    rows: dict[str, tuple[str, list[str]]]
    raising: set[str]
    called: dict[str, str]


def lowered(
    wanted: Wanted,
    group: str,
    arrays: Mapping[str, KnownArray],
    numbers: Mapping[str, int],
    place_of: Callable[[types.FunctionType], str],
    rows: Mapping[str, tuple[str, Mapping[str, Any]]],
    sizes: Mapping[str, int],
    keeps_all: bool,
) -> LoweredC:
    """Functions with all that they call.

    Parameters
    ----------
    wanted : mapping of str to (function, str)
        Functions and their signatures.
    group : str
        Name of the named tuple whose arrays these are.
    arrays : mapping of str to KnownArray
    numbers : mapping of str to int
        By which number each of the wanted functions is called, where it is.
    place_of : callable
        Where a function stands, for readers.
    rows : mapping of str to (str, mapping)
        By names of functions that are written besides: one of the wanted ones, and which of its arguments are
        known: numbers, and arrays of the group by their names.
    sizes : mapping of str to int
        By name of an argument of these functions: how long it is at least.
    keeps_all : bool
        Whether what these replace is written, too.

    Raises
    ------
    ContractError
        One is not of the kernel language.
    """
    program = Program(linked_by_name)
    roots = {name: program.root(function, letters) for name, (function, letters) in wanted.items()}
    simplifier = Simplifier(group, arrays)
    simplifier.simplify(program.functions)
    by_row = {
        name: simplifier.specialized(simplifier.functions[roots[of].symbol], f"k.{name}", arguments)
        for name, (of, arguments) in rows.items()
    }
    replaced = set() if keeps_all else {name for name, _ in rows.values()}
    kept_roots = [root for name, root in roots.items() if name not in replaced]
    functions = simplifier.reached([*program.functions, *by_row.values()], [*kept_roots, *by_row.values()])
    numbered = {numbers[name]: simplifier.functions[f.symbol] for name, f in roots.items() if name in numbers}
    module, calls = c99.Module(), KnownCalls(numbered, {}, set(), simplifier.unchanging)
    texts: dict[str, str] = {}  # by the names in C
    for function in functions:
        if only_finds(function, calls.accessors):
            calls.accessors.add(function.symbol)
        lengths = sizes if function in by_row.values() else {}
        text = LoweredWriter(module, function, arrays, calls, lengths).text().rstrip()
        texts[module.names[function.symbol]] = with_place(text, f"/* {place_of(function.author)} */")
    by_number = {name for name in numbers if name_of(wanted[name][1]) not in calls.called and not keeps_all}
    unread = {module.names[roots[name].symbol] for name in by_number if roots[name] in program.functions}
    texts = without_unread(texts, unread)
    names_in_c = {name: module.names[root.symbol] for name, root in roots.items()}
    return LoweredC(
        head=ROUNDED_APART + c99.HEAD + library_names("\n".join(texts.values())),
        types=with_their_rows(module.types.structures),
        tables=[
            *(text for name, array in arrays.items() for text in table_of(name, array)),
            *module.declared.values(),
        ],
        functions=list(texts.values()),
        names={name: name_in_c for name, name_in_c in names_in_c.items() if name_in_c in texts},
        rows={
            name: (module.names[f.symbol], [parameter for parameter, _ in f.parameters])
            for name, f in by_row.items()
        },
        raising={module.names[f.symbol] for f in functions if f.raises},
        called=calls.called,
    )


def parameters_in_c(signature: str, names: Sequence[str]) -> list[str]:
    """Parameters in C of a signature of letters."""
    kinds: dict[Any, str] = {**VIEWS, **NUMBERS}
    arguments, _ = types_of(signature)
    return [f"{kinds[kind]} {name}" for kind, name in zip(arguments, names, strict=True)]
