"""Writing a function as C for libraries without Python: its calls and arrays are known in part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.known_arrays import KnownArray
from cosim_compiler.language.typed_form import Constant, Expression, Function, view_type
from cosim_compiler.language.types import COLUMNS_IN_GROUP, NOTHING, REAL, WHOLE, Record
from cosim_compiler.printers import c99

LONGEST_INSIDE = 60
"""Characters at most of a call that stands in an expression; a longer one gets a line of its own."""
NODES_OF_ACCESSORS = (
    *(form.Constant, form.Variable, form.Member, form.RowsIn, form.RecordAt, form.Field),
    *(form.Binary, form.Convert, form.MakeTuple, form.Item, form.Call, form.AsTable, form.Length),
)


def is_accessor(function: Function, accessors: set[str]) -> bool:
    """Whether a function only says where something lies: that is the same throughout a run."""
    if function.raises or len(function.body) != 1 or not isinstance(function.body[0], form.Return):
        return False
    value = function.body[0].value
    return value is not None and all(
        isinstance(node, NODES_OF_ACCESSORS)
        and not (isinstance(node, form.Field) and not isinstance(node.type, Record))
        and not (isinstance(node, form.Call) and node.function.symbol not in accessors)
        for node in form.walk(value)
    )


@dataclass
class KnownCalls:
    """Facts about the functions that are called.

    Attributes
    ----------
    numbered : mapping of int to Function
        Functions by the numbers by which they are called.
    called : dict of str to str
        As in `LoweredC`; writers add to it.
    accessors, unchanging : set of str
        Symbols of functions that only say where something lies; of functions that only compute a result.
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
        """Whether an expression has no effects; calls of unchanging functions have none."""
        impure = (form.CallLinked, form.CallAddress, form.Let, form.Zeros)
        return not any(
            part.function.symbol not in self.calls.unchanging
            if isinstance(part, form.Call)
            else isinstance(part, impure)
            for part in form.walk(node)
        )

    def reads_memory(self, node: Expression) -> bool:
        """Whether an expression depends on memory; calls of all functions but accessors count as that."""
        return super().reads_memory(node) or self._computes(node)

    def is_short(self, node: Expression, text: str) -> bool:
        """Whether an expression may be written twice: not if it calls a function other than an accessor."""
        return super().is_short(node, text) and not self._computes(node)

    def _computes(self, node: Expression) -> bool:
        """Whether an expression calls a function other than an accessor."""
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
        """A section; without a check of its bounds if it is known to lie inside the view."""
        view, bounds = node.view, (node.first, node.last)
        size = self.sizes.get(view.name, -1) if isinstance(view, form.Variable) else -1
        if all(isinstance(bound, Constant) and 0 <= bound.value <= size for bound in bounds):
            name = "part" if view_type(node).item is REAL else "part_of_integers"
            return f"{name}({self.of(view)}, {', '.join(self.of(b) for b in bounds if b is not None)})"
        return super()._section(node)

    def _calllinked(self, node: form.CallLinked) -> str:
        """A call of a linked function or of the one with a known number; an exception is in the result."""
        number = node.arguments[0]
        if isinstance(number, Constant) and number.type is WHOLE and number.value in self.calls.numbered:
            return self._call_of_number(node, self.calls.numbered[number.value])
        self.calls.called[node.symbol] = node.signature
        text = f"{node.symbol}({', '.join(self.in_order(node.arguments))})"
        if node.type is NOTHING:
            self.line(f"{text};")
            return ""
        return self.named(node.type, text)

    def _call_of_number(self, node: form.CallLinked, function: Function) -> str:
        """The direct call of the function with a known number; the result of a block is its status."""
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
