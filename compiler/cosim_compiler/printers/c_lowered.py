"""Functions for libraries without Python, as C (as LLVM's text: `llvm_lowered`).

The arrays of a group are known in part (`language.known_arrays`). Functions call others by numbers; if a
number is known, the function that has it is called directly.
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
    without_uncalled,
)
from cosim_compiler.printers.c_lowered_writer import KnownCalls, LoweredWriter, is_accessor
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
"""Functions and their signatures, by names."""


@dataclass
class LoweredC:
    """A file of C in parts.

    Attributes
    ----------
    head : str
        The beginning of all such files.
    types : list of str
        Structures, in an order in which each stands behind those that it needs.
    tables : list of str
        Arrays that no run changes, and constants of functions.
    functions : list of str
    names : dict of str to str
        The names in C of the wanted functions.
    rows : dict of str to (str, list of str)
        The names in C of the functions for known rows, each with the parameters that it still has.
    raising : set of str
        The names in C of functions that return a status.
    called : dict of str to str
        The signatures of functions that are called by a symbol: also of those that call others by numbers.
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
        The numbers by which some of the wanted functions are called.
    place_of : callable
        Returns file and line of a function, for readers.
    rows : mapping of str to (str, mapping)
        Functions that are written for known rows, by name: the wanted function of which each is a copy, and
        the arguments that are known: numbers, and arrays of the group by their names.
    sizes : mapping of str to int
        The least length of an argument of these functions, by its name.
    keeps_all : bool
        Whether the functions of which these are copies are written, too.

    Raises
    ------
    ContractError
        One is not of the kernel language.
    """
    program = Program(linked_by_name)
    roots = {name: program.root(function, letters) for name, (function, letters) in wanted.items()}
    simplifier = Simplifier(group, arrays)
    simplifier.simplify(program.functions)
    row_functions = {
        name: simplifier.specialized(simplifier.functions[roots[original].symbol], f"k.{name}", arguments)
        for name, (original, arguments) in rows.items()
    }
    replaced = set() if keeps_all else {name for name, _ in rows.values()}
    kept_roots = [root for name, root in roots.items() if name not in replaced]
    functions = simplifier.reached(
        [*program.functions, *row_functions.values()], [*kept_roots, *row_functions.values()]
    )
    numbered = {
        numbers[name]: simplifier.functions[root.symbol] for name, root in roots.items() if name in numbers
    }
    module, calls = c99.Module(), KnownCalls(numbered, {}, set(), simplifier.unchanging)
    texts: dict[str, str] = {}  # by the names in C
    for function in functions:
        if is_accessor(function, calls.accessors):
            calls.accessors.add(function.symbol)
        lengths = sizes if function in row_functions.values() else {}
        text = LoweredWriter(module, function, arrays, calls, lengths).text().rstrip()
        texts[module.names[function.symbol]] = with_place(text, f"/* {place_of(function.author)} */")
    # functions that only a number could call, if no call by a number that only a run knows is left
    uncalled = {name for name in numbers if name_of(wanted[name][1]) not in calls.called and not keeps_all}
    removable = {module.names[roots[name].symbol] for name in uncalled if roots[name] in program.functions}
    texts = without_uncalled(texts, removable)
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
            name: (module.names[function.symbol], [parameter for parameter, _ in function.parameters])
            for name, function in row_functions.items()
        },
        raising={module.names[f.symbol] for f in functions if f.raises},
        called=calls.called,
    )


def parameters_in_c(signature: str, names: Sequence[str]) -> list[str]:
    """The parameters in C of a function with this signature."""
    kinds: dict[Any, str] = {**VIEWS, **NUMBERS}
    arguments, _ = types_of(signature)
    return [f"{kinds[kind]} {name}" for kind, name in zip(arguments, names, strict=True)]
