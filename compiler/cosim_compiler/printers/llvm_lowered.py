"""Functions for libraries without Python: LLVM's text in which others are called by names.

Whoever links the texts defines what is left open: functions called by a name (`calls.called_by_name`), those
that call what has a number (`calls.name_of`), and for each array of a group two functions of the group's
address, `data_of` and `length_of` its array. These answer the same as long as a function runs.
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

STAYS = "nounwind willreturn memory(none)"


def linked_by_name(function: types.FunctionType) -> tuple[str, str] | None:
    """The symbol and the signature of what a lowered function calls by a name."""
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
    """Writes one function; what calls by an address calls by a name, with the number of what is called."""

    def _calllinked(self, node: form.CallLinked) -> str:
        arguments = self.words(node.arguments)
        room = self.result_room(node.type)
        kinds = ["ptr", *(word.split()[0] for word in arguments)]
        self.declare(node.symbol, f"declare {STATUS_TYPE} @{node.symbol}({', '.join(kinds)})")
        # what it raises is in its result
        self.line(f"call {STATUS_TYPE} @{node.symbol}({', '.join([f'ptr {room}', *arguments])})")
        return "" if node.type is NOTHING else self.value(f"load {llvm_type(node.type)}, ptr {room}")

    def _member(self, node: form.Member) -> str:
        group, kind = self.of(node.group), group_type(node.group)
        array = kind.of._fields[node.index]  # type: ignore[attr-defined]
        words = []
        for name, word in ((data_of(kind.of, array), "ptr"), (length_of(kind.of, array), "i64")):
            self.declare(name, f"declare {word} @{name}(ptr) {STAYS}")
            words.append(self.value(f"call {word} @{name}(ptr {group})"))
        if view_type(node).axes == 2:
            words.append(str(COLUMNS_IN_GROUP))
        return self.pack(*words)
