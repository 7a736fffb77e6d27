"""Functions for native libraries: LLVM's text in which others are called by names.

The convention is the one that `lowered_code` and the linking of native FMUs know: places for a result and for
an exception (which nothing uses), then an array as seven words, a table as nine. Groups are passed view by
view, and no two of their views share memory.
"""

from __future__ import annotations

import types
from collections.abc import Sequence

from cosim_compiler.calls import BY_NAME, INDIRECT, STATUS, name_of
from cosim_compiler.convention import compounds
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.program import Program
from cosim_compiler.language.typed_form import Expression, Function
from cosim_compiler.language.types import NOTHING, Number, Tuple, Type, View, types_of
from cosim_compiler.printers import llvm_arithmetic as arithmetic
from cosim_compiler.printers.llvm import FunctionWriter, Module, add_functions
from cosim_compiler.printers.llvm_types import STATUS as STATUS_TYPE
from cosim_compiler.printers.llvm_types import llvm_type, returned
from cosim_compiler.printers.llvm_values import ValueWriter

ITEM = 8
ARRAY = ("ptr", "ptr", "i64", "i64", "ptr", "i64", "i64")
WORDS = {1: ARRAY, 2: (*ARRAY, "i64", "i64")}
"""Owner, parent, items, size of an item, address, lengths, strides: by the number of axes."""
DATA = 4


def linked_by_name(function: types.FunctionType) -> tuple[str, str] | None:
    """The symbol and the signature of what a lowered function calls by a name."""
    marks = function.__dict__
    if "__part__" in marks:
        return f"part_{function.__name__}", marks["__part__"]
    if BY_NAME in marks:
        name, signature = marks[BY_NAME]
        return name, signature
    if STATUS in marks:
        return name_of(marks[STATUS]), f"i{marks[STATUS][:-1]}i"
    if INDIRECT in marks:
        return name_of(marks[INDIRECT]), f"i{marks[INDIRECT]}"
    return None


def lowered_text(function: types.FunctionType, signature: str, name: str) -> str:
    """LLVM's text of a function and its helpers, for no machine in particular.

    Raises
    ------
    ContractError
        It is not of the kernel language.
    """
    program = Program(linked_by_name, groups_are_tuples=True)
    root = program.root(function, signature)
    module = Module()
    add_functions(module, [LoweredWriter(module, typed) for typed in program.functions])
    module.functions.append(_entry(module, name, root, signature))
    return module.text()


class LoweredWriter(FunctionWriter):
    """Writes one function; calls by address are calls by name, of what a number stands for."""

    def words(self, arguments: Sequence[Expression]) -> list[str]:
        """Arguments as the words of the convention, each with its type."""
        found = []
        for argument in arguments:
            text = self.of(argument)
            if isinstance(argument.type, Tuple):
                for i, kind in enumerate(argument.type.items):
                    item = self.value(f"extractvalue {llvm_type(argument.type)} {text}, {i}")
                    found += _words(self, kind, item)
            else:
                found += _words(self, argument.type, text)
        return found

    def _calllinked(self, node: form.CallLinked) -> str:
        given = ["ptr null", *self.words(node.arguments)]
        room = self.result_room(node.type)
        kinds = ["ptr", *(word.split()[0] for word in given)]
        self.declare(node.symbol, f"declare {STATUS_TYPE} @{node.symbol}({', '.join(kinds)})")
        status = self.value(f"call {STATUS_TYPE} @{node.symbol}({', '.join([f'ptr {room}', *given])})")
        if node.symbol.startswith("part_"):  # what is called by an address says in its result how it went
            self.hand_on(status)
        return "" if node.type is NOTHING else self.value(f"load {llvm_type(node.type)}, ptr {room}")


def _words(out: ValueWriter, kind: Type, text: str) -> list[str]:
    if not isinstance(kind, View):
        return [f"{llvm_type(kind)} {text}"]
    view = llvm_type(kind)
    data, rows = (out.value(f"extractvalue {view} {text}, {i}") for i in range(2))
    if kind.axes == 1:
        return [
            *("ptr null", "ptr null", f"i64 {rows}", f"i64 {ITEM}", f"ptr {data}"),
            *(f"i64 {rows}", f"i64 {ITEM}"),
        ]
    columns = out.value(f"extractvalue {view} {text}, 2")
    items, stride = out.value(f"mul i64 {rows}, {columns}"), out.value(f"mul i64 {columns}, {ITEM}")
    return [
        *("ptr null", "ptr null", f"i64 {items}", f"i64 {ITEM}", f"ptr {data}"),
        *(f"i64 {rows}", f"i64 {columns}", f"i64 {stride}", f"i64 {ITEM}"),
    ]


def _entry(module: Module, name: str, function: Function, signature: str) -> str:
    """The one function of the text that others see."""
    out = ValueWriter(module.declared)
    heads, names = ["ptr %result", "ptr %exception"], []
    letters = signature.split(">")[0]
    for i, (letter, (_, kind)) in enumerate(zip(letters, function.parameters, strict=True)):
        members = kind.items if isinstance(kind, Tuple) else (kind,)
        items = []
        for j, member in enumerate(members):
            if isinstance(member, View):
                apart = " noalias" if letter in compounds else ""
                item, more = _view(out, member, f"%a{i}.{j}", apart)
                heads += more
            else:
                item = f"%a{i}.{j}"
                heads.append(f"{llvm_type(member)} {item}")
            items.append((llvm_type(member), item))
        value = arithmetic.pair(out, llvm_type(kind), *items) if isinstance(kind, Tuple) else items[0][1]
        names += out.apart(kind, value)
    call = f"call {returned(function)} @{function.symbol}({', '.join(names)}) alwaysinline"
    status = answer = "0"
    if function.result is NOTHING and not function.raises:
        out.line(call)
    elif function.result is NOTHING:
        status = out.value(call)
    else:
        answer = out.value(call)
        if function.raises:
            status = out.value(f"extractvalue {returned(function)} {answer}, 0")
            answer = out.value(f"extractvalue {returned(function)} {answer}, 1")
    result = types_of(signature)[1]
    if result is not NOTHING:
        assert isinstance(result, Number)
        answer = out.converted(function.result, result, answer)
        out.line(f"store {llvm_type(result)} {answer}, ptr %result")
    out.line(f"ret {STATUS_TYPE} {status}")
    head = f"define {STATUS_TYPE} @{name}({', '.join(heads)}) nounwind {{"
    return "\n".join([head, *out.head, *out.lines, "}", ""])


def _view(out: ValueWriter, kind: View, name: str, apart: str) -> tuple[str, list[str]]:
    """A view from its words, and how these are declared."""
    words = [f"{word}{apart if i == DATA else ''} {name}.{i}" for i, word in enumerate(WORDS[kind.axes])]
    lengths = [("i64", f"{name}.{DATA + 1 + axis}") for axis in range(kind.axes)]
    return arithmetic.pair(out, llvm_type(kind), ("ptr", f"{name}.{DATA}"), *lengths), words
