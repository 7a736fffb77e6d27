"""Writes a function for libraries without Python, whose calls and arrays are known in part, as C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.known_arrays import KnownArray
from cosim_compiler.language.typed_form import Constant, Expression, Function, view_type
from cosim_compiler.language.types import COLUMNS_IN_GROUP, NOTHING, REAL, WHOLE, Record
from cosim_compiler.printers import c99

LONGEST_INSIDE = 60
"""Letters of a call that stands in an expression; a longer one has a line of its own."""
PLACES = (
    *(form.Constant, form.Variable, form.Member, form.RowsIn, form.RecordAt, form.Field),
    *(form.Binary, form.Convert, form.MakeTuple, form.Item, form.Call, form.AsTable, form.Length),
)


def only_finds(function: Function, accessors: set[str]) -> bool:
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
