"""Functions for libraries without Python, as C; as `llvm_lowered`.

The arrays of a group are known in part (`language.known_arrays`), and so are the functions that are called by
numbers: a call whose number is known is a call of that function.
"""

from __future__ import annotations

import re
import types
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosim_compiler.calls import name_of
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.builtins import OF_C_LIBRARY
from cosim_compiler.language.known_arrays import KnownArray
from cosim_compiler.language.program import Program
from cosim_compiler.language.simplifier import Simplifier
from cosim_compiler.language.typed_form import Constant, Expression, Function, view_type
from cosim_compiler.language.types import COLUMNS_IN_GROUP, NOTHING, REAL, WHOLE, Record, types_of
from cosim_compiler.printers import c99
from cosim_compiler.printers.c_names import NUMBERS, VIEWS, real, whole
from cosim_compiler.printers.llvm_lowered import linked_by_name

LINE = 110
LONGEST_HEAD = 130
LONGEST_INSIDE = 60
"""Letters of a call that stands in an expression; a longer one has a line of its own."""
WORD = re.compile(r"\w+")
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
OF_C_LIBRARY_ALONE = """\
/* Functions of the C library have names that compilers do not know: they compute nothing of them. */
#if defined(__GNUC__) && defined(__ELF__)
{}
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
    replaced = set() if keeps_all else {name for name, _ in rows.values()}
    simplifier.simplify(program.functions)
    by_row = {
        name: simplifier.specialized(simplifier.functions[roots[of].symbol], f"k.{name}", arguments)
        for name, (of, arguments) in rows.items()
    }
    kept_roots = [root for name, root in roots.items() if name not in replaced]
    functions = simplifier.reached([*program.functions, *by_row.values()], [*kept_roots, *by_row.values()])
    module = c99.Module()
    numbered = {numbers[name]: simplifier.functions[f.symbol] for name, f in roots.items() if name in numbers}
    called: dict[str, str] = {}
    accessors: set[str] = set()
    texts: dict[str, str] = {}
    for function in functions:
        if _only_finds(function, accessors):
            accessors.add(function.symbol)
        lengths = sizes if function in by_row.values() else {}
        calls = KnownCalls(numbered, called, accessors, simplifier.unchanging)
        text = LoweredWriter(module, function, arrays, calls, lengths).text()
        place = f"/* {place_of(function.author)} */"
        texts[module.names[function.symbol]] = _with_place(text.rstrip(), place)
    by_number = {name for name in numbers if name_of(wanted[name][1]) not in called and not keeps_all}
    unread = {module.names[roots[name].symbol] for name in by_number if roots[name] in program.functions}
    listed = list(_without_unread(texts, unread).values())
    names = {
        name: module.names[root.symbol] for name, root in roots.items() if module.names[root.symbol] in texts
    }
    row_names = {name: (module.names[f.symbol], [n for n, _ in f.parameters]) for name, f in by_row.items()}
    raising = {module.names[f.symbol] for f in functions if f.raises}
    tables = [text for name, array in arrays.items() for text in _table(name, array)]
    head = ROUNDED_APART + c99.HEAD + _of_c_library("\n".join(listed))
    structures = _with_their_rows(module.types.structures)
    return LoweredC(
        head, structures, [*tables, *module.declared.values()], listed, names, row_names, raising, called
    )


def _with_place(text: str, place: str) -> str:
    """A function with where it stands: behind its first line, or before it where that would be long."""
    head, *others = text.split("\n")
    if others and len(head) + len(place) > LONGEST_HEAD:
        return f"{place}\n{text}"
    return "\n".join([f"{head} {place}", *others])


def _with_their_rows(structures: Mapping[str, str]) -> list[str]:
    """The structures; what holds rows of a record stands beside it."""
    lines: list[str] = []
    rows = ""
    for name, text in structures.items():
        lines = [*lines[:-1], f"{lines[-1]} {text}"] if rows == f"rows_{name}" else [*lines, text]
        rows = name
    return lines


def _without_unread(texts: dict[str, str], removable: set[str]) -> dict[str, str]:
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


def _of_c_library(text: str) -> str:
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


def _table(name: str, array: KnownArray) -> list[str]:
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


PLACES = (
    *(form.Constant, form.Variable, form.Member, form.RowsIn, form.RecordAt, form.Field),
    *(form.Binary, form.Convert, form.MakeTuple, form.Item, form.Call, form.AsTable, form.Length),
)


def _only_finds(function: Function, accessors: set[str]) -> bool:
    """Whether a function only says where something lies, which no run changes."""
    if function.raises or len(function.body) != 1 or not isinstance(function.body[0], form.Return):
        return False
    value = function.body[0].value
    return value is not None and all(
        isinstance(node, PLACES)
        and not (isinstance(node, form.Field) and not isinstance(node.type, Record))
        and not (isinstance(node, form.Call) and node.function.symbol not in accessors)
        for node in form.walk(value)
    )


@dataclass
class KnownCalls:
    """Facts about functions that are called.

    Attributes
    ----------
    numbered : mapping of int to Function
        Those that are called by a number.
    called : dict of str to str
        As in `LoweredC`; it grows.
    accessors, unchanging : set of str
        Symbols of those that only say where something lies, and of those that write nowhere.
    """

    numbered: Mapping[int, Function]
    called: dict[str, str]
    accessors: set[str]
    unchanging: set[str]


class LoweredWriter(c99.FunctionWriter):
    """Writes one function."""

    def __init__(
        self,
        module: c99.Module,
        function: Function,
        arrays: Mapping[str, KnownArray],
        calls: KnownCalls,
        sizes: Mapping[str, int],
    ) -> None:
        super().__init__(module, function)
        self.arrays, self.calls, self.sizes = arrays, calls, sizes

    def is_pure(self, node: Expression) -> bool:
        """Calls that write nowhere may stand anywhere."""
        impure = (form.CallLinked, form.CallAddress, form.Let, form.Zeros)
        return not any(
            part.function.symbol not in self.calls.unchanging
            if isinstance(part, form.Call)
            else isinstance(part, impure)
            for part in form.walk(node)
        )

    def reads_memory(self, node: Expression) -> bool:
        """A call reads, unless it only finds a place."""
        return super().reads_memory(node) or self._computes(node)

    def is_short(self, node: Expression, text: str) -> bool:
        """Whether an expression may be printed twice: not if it holds a call that computes something."""
        return super().is_short(node, text) and not self._computes(node)

    def _computes(self, node: Expression) -> bool:
        calls = (part for part in form.walk(node) if isinstance(part, form.Call))
        return any(call.function.symbol not in self.calls.accessors for call in calls)

    def _call(self, node: form.Call) -> str:
        symbol = node.function.symbol
        if node.type is NOTHING or symbol not in self.calls.accessors | self.calls.unchanging:
            return super()._call(node)
        text = self.call(node)
        stands_alone = len(text) > LONGEST_INSIDE and symbol not in self.calls.accessors
        return self.named(node.type, text) if stands_alone else text

    def _member(self, node: form.Member) -> str:
        if self.arrays[node.name].numbers is not None:
            return f"model_{node.name}"
        text = f"{self.of(node.group)}->{node.name}"
        return text if view_type(node).axes == 1 else f"(table){{{text}.at, {text}.n, {COLUMNS_IN_GROUP}}}"

    def _section(self, node: form.Section) -> str:
        """A part of which is known that it lies inside."""
        view, bounds = node.view, (node.first, node.last)
        size = self.sizes.get(view.name, -1) if isinstance(view, form.Variable) else -1
        if all(isinstance(bound, Constant) and 0 <= bound.value <= size for bound in bounds):
            name = "part" if view_type(node).item is REAL else "part_of_integers"
            return f"{name}({self.of(view)}, {', '.join(self.of(b) for b in bounds if b is not None)})"
        return super()._section(node)

    def _calllinked(self, node: form.CallLinked) -> str:
        """Print a call of a linked function; its result is also the status of what it raises."""
        first = node.arguments[0]
        if isinstance(first, Constant) and first.type is WHOLE and first.value in self.calls.numbered:
            return self._known(node, self.calls.numbered[first.value])
        self.calls.called[node.symbol] = node.signature
        text = f"{node.symbol}({', '.join(self.in_order(node.arguments))})"
        if node.type is NOTHING:
            self.line(f"{text};")
            return ""
        return self.named(node.type, text)

    def _known(self, node: form.CallLinked, function: Function) -> str:
        """The call of a function by a number that is known; of a block the result is the status."""
        arguments = self.in_order(node.arguments[1:])
        name = self.names[function.symbol]
        is_block = function.result is NOTHING and node.type is not NOTHING
        if is_block:
            text = f"{name}({', '.join(arguments)})"
            if function.raises:
                return self.named(WHOLE, f"{text} != 0")
            self.line(f"{text};")
            return "0"
        if not function.raises:
            text = f"{name}({', '.join(arguments)})"
            if function.result is NOTHING or node.type is NOTHING:
                self.line(f"{text};" if function.result is NOTHING else f"(void){text};")
                return ""
            return self.named(node.type, self.converted(function.result, node.type, text))
        result = ""
        if function.result is not NOTHING:
            result = self.declare_result(function.result)
            arguments.append(f"&{result}")
        self.line(f"(void){name}({', '.join(arguments)});")
        return "" if node.type is NOTHING else self.converted(function.result, node.type, result)


def parameters_in_c(signature: str, names: Sequence[str]) -> list[str]:
    """Parameters in C of a signature of letters."""
    kinds: dict[Any, str] = {**VIEWS, **NUMBERS}
    arguments, _ = types_of(signature)
    return [f"{kinds[kind]} {name}" for kind, name in zip(arguments, names, strict=True)]
