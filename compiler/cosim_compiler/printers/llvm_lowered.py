"""Functions for libraries without Python, as LLVM's text in which other functions are called by names.

The text calls functions that the linking program defines: functions called by a name
(`calls.called_by_name`), functions that call another one by its number (`calls.name_of`), and for each array
of a group two functions of the group's address, `data_of` and `length_of`. The answers of these two do not
change while a function runs.
"""

from __future__ import annotations

import types
from collections.abc import Sequence

from cosim_compiler.calls import BY_NAME, INDIRECT, PLACEHOLDER, STATUS, data_of, length_of, name_of
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.program import Program
from cosim_compiler.language.typed_form import group_type, view_type
from cosim_compiler.language.types import COLUMNS_IN_GROUP, NOTHING
from cosim_compiler.printers.llvm import FunctionWriter, Module, add_functions
from cosim_compiler.printers.llvm_entries import by_address
from cosim_compiler.printers.llvm_types import STATUS as STATUS_TYPE
from cosim_compiler.printers.llvm_types import llvm_type

UNCHANGING = "nounwind willreturn memory(none)"
"""The attributes of functions whose answer does not change."""


def linked_by_name(function: types.FunctionType) -> tuple[str, str] | None:
    """Symbol and signature of a function that lowered functions call by name; None of any other."""
    marks = function.__dict__
    if BY_NAME in marks:
        name, signature = marks[BY_NAME]
        return name, signature
    if STATUS in marks:
        return name_of(marks[STATUS]), f"i{marks[STATUS][:-1]}i"
    if INDIRECT in marks:
        return name_of(marks[INDIRECT]), f"i{marks[INDIRECT]}"
    return None


def text_of(wanted: Sequence[tuple[types.FunctionType, str]]) -> str:
    """LLVM's text of functions with their signatures, and of their helpers, for no machine in particular.

    Raises
    ------
    ContractError
        One is not of the kernel language.
    """
    program = Program(linked_by_name)
    roots = [program.root(function, signature) for function, signature in wanted]
    module = Module()
    add_functions(module, [LoweredWriter(module, function) for function in program.functions])
    for i, ((_, signature), root) in enumerate(zip(wanted, roots, strict=True)):
        module.functions.append(by_address(module, f"{PLACEHOLDER}_{i}", root, signature))
    return module.text()


class LoweredWriter(FunctionWriter):
    """Writes one function; a call by address becomes a call by name, with the number of what is called."""

    def _calllinked(self, node: form.CallLinked) -> str:
        arguments = self.words(node.arguments)
        room = self.result_room(node.type)
        kinds = ["ptr", *(word.split()[0] for word in arguments)]
        self.declare(node.symbol, f"declare {STATUS_TYPE} @{node.symbol}({', '.join(kinds)})")
        # whether it raised is in its result
        self.line(f"call {STATUS_TYPE} @{node.symbol}({', '.join([f'ptr {room}', *arguments])})")
        return "" if node.type is NOTHING else self.value(f"load {llvm_type(node.type)}, ptr {room}")

    def _member(self, node: form.Member) -> str:
        group, kind = self.of(node.group), group_type(node.group)
        array = kind.of._fields[node.index]  # type: ignore[attr-defined]
        words = []
        for name, word in ((data_of(kind.of, array), "ptr"), (length_of(kind.of, array), "i64")):
            self.declare(name, f"declare {word} @{name}(ptr) {UNCHANGING}")
            words.append(self.value(f"call {word} @{name}(ptr {group})"))
        if view_type(node).axes == 2:
            words.append(str(COLUMNS_IN_GROUP))
        return self.pack(*words)
