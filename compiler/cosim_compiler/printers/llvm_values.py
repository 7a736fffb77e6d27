"""Expressions as LLVM's text."""

from __future__ import annotations

import ctypes
import math
import operator
import struct
from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, view_type
from cosim_compiler.language.types import (
    COLUMNS_IN_GROUP,
    NOTHING,
    REAL,
    WHOLE,
    Number,
    Record,
    Tuple,
    Type,
    View,
    is_for_lanes,
    is_truth_for_lanes,
    types_of,
)
from cosim_compiler.printers import llvm_arithmetic as arithmetic
from cosim_compiler.printers.llvm_frame import FrameWriter
from cosim_compiler.printers.llvm_types import (
    STATUS,
    alignment,
    constant,
    llvm_type,
    returned,
    zero_of,
)

KNOWN_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
"""Operators of whole numbers that are computed here where both operands are known."""


class ValueWriter(FrameWriter):
    """Writes expressions into a function; see `llvm.FunctionWriter`."""

    def __init__(self, declared: dict[str, str]) -> None:
        super().__init__(declared)
        self.called: Counter[str] = Counter()  # how often each function of the module is called
        self.counts: set[str] = set()  # variables of the loops around this place that are never negative
        self.numbers: dict[str, int] = {}  # the present values of variables of written-out loops

    def return_status(self, status: str) -> None:
        raise NotImplementedError

    def assign(self, name: str, value: Expression) -> None:
        raise NotImplementedError

    # expressions

    def of(self, node: Expression) -> str:
        """Write the instructions that compute an expression; the name of its value, or a constant."""
        text: str = getattr(self, f"_{type(node).__name__.lower()}", self._unknown)(node)
        return text

    def _unknown(self, node: Expression) -> NoReturn:
        raise TypeError(node)

    def _constant(self, node: form.Constant) -> str:
        return constant(node.type, node.value)

    def _variable(self, node: form.Variable) -> str:
        count = self.numbers.get(node.name)
        text = self.get_variable(node.name) if count is None else str(count)
        return self.converted(self.function.variables[node.name], node.type, text)

    def number(self, node: Expression) -> int | None:
        """The value of an integer; None if it is not known."""
        if isinstance(node, form.Constant) and node.type is WHOLE:
            return int(node.value)
        if isinstance(node, form.Variable):
            return self.numbers.get(node.name)
        if isinstance(node, form.Binary) and node.operator in KNOWN_OPERATORS:
            left, right = self.number(node.left), self.number(node.right)
            return None if left is None or right is None else KNOWN_OPERATORS[node.operator](left, right)
        return None

    def is_natural(self, node: Expression) -> bool:
        """Whether an integer is certainly not negative: a count of a loop, or a sum or product of such."""
        number = self.number(node)
        if number is not None:
            return number >= 0
        if isinstance(node, form.Binary) and node.operator in ("+", "*"):
            return self.is_natural(node.left) and self.is_natural(node.right)
        is_count = isinstance(node, form.Variable) and node.name in self.counts
        return is_count or isinstance(node, form.Length)

    def _let(self, node: form.Let) -> str:
        kind = self.function.variables[node.name]
        self.bound[node.name] = self.converted(node.value.type, kind, self.of(node.value))
        return self.of(node.body)

    def _unary(self, node: form.Unary) -> str:
        return arithmetic.negative(self, node.operator, node.type, self.of(node.operand))

    def _binary(self, node: form.Binary) -> str:
        return arithmetic.binary(self, node.operator, node.type, self.of(node.left), self.of(node.right))

    def _compare(self, node: form.Compare) -> str:
        return arithmetic.compare(
            self, node.operator, node.left.type, self.of(node.left), self.of(node.right)
        )

    def _mathematics(self, node: form.Mathematics) -> str:
        arguments = [self.of(argument) for argument in node.arguments]
        return arithmetic.mathematics(self, node.name, node.arguments[0].type, arguments)

    def _convert(self, node: form.Convert) -> str:
        return self.converted(node.operand.type, node.type, self.of(node.operand))

    def converted(self, kind: Type, wanted: Type, text: str) -> str:
        """A value as one of another type."""
        if kind == wanted:
            return text
        if isinstance(wanted, View):  # of a shape that is not known here
            return text
        if isinstance(kind, Tuple) and isinstance(wanted, Tuple):
            kinds = zip(kind.items, wanted.items, strict=True)
            return self.pack(
                *[
                    self.converted(item, to, self.part(llvm_type(kind), text, i))
                    for i, (item, to) in enumerate(kinds)
                ]
            )
        return arithmetic.convert(self, kind, wanted, text)

    def _logic(self, node: form.Logic) -> str:
        if is_truth_for_lanes(node.type):
            left, right = self.of(node.left), self.of(node.right)
            return self.value(f"{node.operator} {llvm_type(node.type)} {left}, {right}")
        second_operand, short, end = self.label(), self.label(), self.label()
        left = self.of(node.left)
        yes, no = (second_operand, short) if node.operator == "and" else (short, second_operand)
        self.line(f"br i1 {left}, label %{yes}, label %{no}")
        self.at(short)
        self.branch(end)
        self.at(second_operand)
        right = self.of(node.right)
        from_right = self.here
        self.branch(end)
        self.at(end)
        decided = "false" if node.operator == "and" else "true"
        return self.value(f"phi i1 [{decided}, %{short}], [{right}, %{from_right}]")

    def _choice(self, node: form.Choice) -> str:
        if is_truth_for_lanes(node.condition.type):
            condition, *both = map(self.of, (node.condition, node.yes, node.no))
            return arithmetic.select(self, node.type, condition, *both)
        yes, no, end = self.label(), self.label(), self.label()
        self.line(f"br i1 {self.of(node.condition)}, label %{yes}, label %{no}")
        incoming = []
        for label, branch in ((yes, node.yes), (no, node.no)):
            self.at(label)
            words = self.words_in(node.type, self.of(branch))
            incoming.append((self.here, words))
            self.branch(end)
        self.at(end)
        return self.merged(node.type, incoming)

    # tuples

    def _maketuple(self, node: form.MakeTuple) -> str:
        return self.pack(*[self.of(item) for item in node.items])

    def _item(self, node: form.Item) -> str:
        path: list[int] = []
        outermost: Expression = node
        while isinstance(outermost, form.Item):
            path.insert(0, outermost.index)
            outermost = outermost.tuple
        if isinstance(outermost, form.Variable) and self.function.variables[outermost.name] == outermost.type:
            return self.get_variable(outermost.name, path)
        return self.part(llvm_type(node.tuple.type), self.of(node.tuple), node.index)

    def _pick(self, node: form.Pick) -> str:
        """An item at a computed index: a switch, which vanishes where its loop is written out."""
        assert isinstance(node.tuple.type, Tuple)
        count, kind = len(node.tuple.type.items), llvm_type(node.tuple.type)
        number = self.number(node.index)
        if number is not None and -count <= number < count:
            return self._item(form.Item(node.type, node.tuple, number % count))
        value, place = self.of(node.tuple), self.of(node.index)
        cases, beyond, end = [self.label() for _ in range(count)], self.label(), self.label()
        listed = " ".join(f"i64 {i}, label %{c} i64 {i - count}, label %{c}" for i, c in enumerate(cases))
        self.line(f"switch i64 {place}, label %{beyond} [{listed}]")
        incoming = []
        for i, case in enumerate(cases):
            self.at(case)
            incoming.append((case, self.words_in(node.type, self.part(kind, value, i))))
            self.branch(end)
        self.at(beyond)
        self.line("unreachable")
        self.at(end)
        return self.merged(node.type, incoming)

    # views

    def _element(self, node: form.Element) -> str:
        return self.value(f"load {llvm_type(node.type)}, ptr {self.place(node)}{alignment(node.type)}")

    def _field(self, node: form.Field) -> str:
        place = self.place(node)
        return (
            place
            if isinstance(node.type, Record)
            else self.value(f"load {llvm_type(node.type)}, ptr {place}{alignment(node.type)}")
        )

    def _recordat(self, node: form.RecordAt) -> str:
        rows = self.of(node.rows)
        assert isinstance(node.type, Record)
        index = self._counted(node.index, "{ptr, i64}", rows, 0)
        size = ctypes.sizeof(node.type.of) * node.type.lanes
        offset = self.value(f"mul i64 {index}, {size}")
        start = self.part("{ptr, i64}", rows, 0)
        return self.value(f"getelementptr i8, ptr {start}, i64 {offset}")

    def _rowsin(self, node: form.RowsIn) -> str:
        start = self.part("{ptr, i64}", self.of(node.view), 0)
        item = llvm_type(view_type(node.view).item)
        start = self.value(f"getelementptr {item}, ptr {start}, i64 {self.of(node.first)}")
        return self.pack(start, self.of(node.count))

    def place(self, node: form.Element | form.Field) -> str:
        """The address of an element or of a field."""
        if isinstance(node, form.Field):
            return self.value(f"getelementptr i8, ptr {self.of(node.record)}, i64 {node.offset}")
        kind, view = llvm_type(node.view.type), self.of(node.view)
        flat = ""
        for axis, index in enumerate(node.indices):
            at = self._counted(index, kind, view, axis)
            if axis:
                columns = self.part(kind, view, axis + 1)
                flat = self.value(f"mul i64 {flat}, {columns}")
                flat = self.value(f"add i64 {flat}, {at}")
            else:
                flat = at
        start = self.part(kind, view, 0)
        return self.value(f"getelementptr {llvm_type(node.type)}, ptr {start}, i64 {flat}")

    def _counted(self, index: Expression, kind: str, view: str, axis: int) -> str:
        """An index as counted from the start; a negative one counts from the end.

        Negative ones are rare, so a branch is faster than a choice: each address would wait for the length.
        """
        text, number = self.of(index), self.number(index)
        if self.is_natural(index):
            return text
        length = self.part(kind, view, axis + 1)
        if number is not None:
            return self.value(f"add i64 {text}, {length}")
        is_negative = self.value(f"icmp slt i64 {text}, 0")
        from_end, end = self.label(), self.label()
        before = self.here
        self.line(f"br i1 {is_negative}, label %{from_end}, label %{end}, {arithmetic.UNLIKELY}")
        self.at(from_end)
        behind = self.value(f"add i64 {text}, {length}")
        self.branch(end)
        self.at(end)
        return self.value(f"phi i64 [{text}, %{before}], [{behind}, %{from_end}]")

    def _from_end(self, text: str, length: str) -> str:
        is_negative = self.value(f"icmp slt i64 {text}, 0")
        behind = self.value(f"add i64 {text}, {length}")
        return self.value(f"select i1 {is_negative}, i64 {behind}, i64 {text}")

    def _length(self, node: form.Length) -> str:
        return self.part(llvm_type(node.view.type), self.of(node.view), node.axis + 1)

    def _section(self, node: form.Section) -> str:
        """A section. Bounds beyond the ends mean the ends, as in Python; nearly always they lie inside."""
        view = self.of(node.view)
        length = self.part("{ptr, i64}", view, 1)
        first = "0" if node.first is None else self.of(node.first)
        last = length if node.last is None else self.of(node.last)
        beyond, end = self.label(), self.label()
        fits = self.value(f"icmp ule i64 {last}, {length}")
        if first != "0":
            fits = self.value(f"and i1 {fits}, {self.value(f'icmp ule i64 {first}, {last}')}")
        count = self.value(f"sub i64 {last}, {first}")
        inside = self.here
        self.line(f"br i1 {fits}, label %{end}, label %{beyond}, {arithmetic.LIKELY}")
        self.at(beyond)
        first_there, last_there = (self._bound(place, length) for place in (first, last))
        count_there = self.value(f"sub i64 {last_there}, {first_there}")
        is_empty = self.value(f"icmp slt i64 {count_there}, 0")
        count_there = self.value(f"select i1 {is_empty}, i64 0, i64 {count_there}")
        self.branch(end)
        self.at(end)
        first = self.value(f"phi i64 [{first}, %{inside}], [{first_there}, %{beyond}]")
        count = self.value(f"phi i64 [{count}, %{inside}], [{count_there}, %{beyond}]")
        start = self.part("{ptr, i64}", view, 0)
        start = self.value(f"getelementptr {llvm_type(view_type(node).item)}, ptr {start}, i64 {first}")
        return self.pack(start, count)

    def _bound(self, text: str, length: str) -> str:
        """A bound of a section as a number between 0 and the length."""
        if text in ("0", length):
            return text
        text = self._from_end(text, length)
        is_before = self.value(f"icmp slt i64 {text}, 0")
        text = self.value(f"select i1 {is_before}, i64 0, i64 {text}")
        is_behind = self.value(f"icmp sgt i64 {text}, {length}")
        return self.value(f"select i1 {is_behind}, i64 {length}, i64 {text}")

    def _row(self, node: form.Row) -> str:
        kind, table = llvm_type(node.view.type), self.of(node.view)
        index = self._counted(node.index, kind, table, 0)
        columns = self.part(kind, table, 2)
        start = self.part(kind, table, 0)
        index = self.value(f"mul i64 {index}, {columns}")
        start = self.value(f"getelementptr {llvm_type(view_type(node).item)}, ptr {start}, i64 {index}")
        return self.pack(start, columns)

    def _viewat(self, node: form.ViewAt) -> str:
        start = self.value(f"inttoptr i64 {self.of(node.address)} to ptr")
        size = self.of(node.size)
        return self.pack(start, size, *([] if view_type(node).axes == 1 else [str(node.columns)]))

    def _astable(self, node: form.AsTable) -> str:
        start = self.part("{ptr, i64}", self.of(node.view), 0)
        return self.pack(start, self.of(node.rows), self.of(node.columns))

    def _aslanes(self, node: form.AsLanes) -> str:
        view = self.of(node.view)
        start, count = (self.part("{ptr, i64}", view, i) for i in range(2))
        lanes = view_type(node).item.lanes
        change = f"mul i64 {count}, {view_type(node.view).item.lanes}"
        count = self.value(f"sdiv i64 {count}, {lanes}" if lanes > 1 else change)
        return self.pack(start, count)

    def _agreed(self, node: form.Agreed) -> str:
        given = node.condition.type
        assert isinstance(given, Number)
        truths = self.value(f"bitcast {llvm_type(given)} {self.of(node.condition)} to i{given.lanes}")
        every = self.value(f"icmp eq i{given.lanes} {truths}, -1")
        some = self.value(f"icmp ne i{given.lanes} {truths}, 0")
        differs = self.value(f"xor i1 {every}, {some}")
        self.propagate_status(self.value(f"select i1 {differs}, {STATUS} {node.number}, {STATUS} 0"))
        return every

    def _zeros(self, node: form.Zeros) -> str:
        view = view_type(node)
        assert view.shape is not None
        memory = f"[{math.prod(view.shape)} x {llvm_type(view.item)}]"
        room = self.room(memory)
        self.line(f"store {memory} zeroinitializer, ptr {room}")
        return self.pack(room, *map(str, view.shape))

    def _constantview(self, node: form.ConstantView) -> str:
        view = view_type(node)
        item = llvm_type(view.item)
        numbers = [constant(view.item, number) for number in node.numbers]
        packed = [struct.pack("<d" if view.item is REAL else "<q", number) for number in node.numbers]
        name = f"constant.{b''.join(packed).hex()[:64]}.{len(numbers)}.{item}.{len(self.declared)}"
        kind = f"[{len(numbers)} x {item}]"
        listed = ", ".join(f"{item} {number}" for number in numbers)
        self.declare(name, f'@"{name}" = private constant {kind} [{listed}]')
        return self.pack(f'@"{name}"', *map(str, node.shape))

    # groups

    def _groupat(self, node: form.GroupAt) -> str:
        return self.value(f"inttoptr i64 {self.of(node.address)} to ptr")

    def _member(self, node: form.Member) -> str:
        """Addresses and lengths in the table of a group do not change while machine code runs."""
        table = self.of(node.group)
        place = self.value(f"getelementptr {{ptr, i64}}, ptr {table}, i64 {node.index}")
        start = self.value(f"load ptr, ptr {place}, !invariant.load !0")
        place = self.value(f"getelementptr i64, ptr {place}, i64 1")
        rows = self.value(f"load i64, ptr {place}, !invariant.load !0")
        return self.pack(start, rows, *([] if view_type(node).axes == 1 else [str(COLUMNS_IN_GROUP)]))

    def _makegroup(self, node: form.MakeGroup) -> str:
        table = self.room(f"[{len(node.members)} x {{ptr, i64}}]")
        for i, member in enumerate(node.members):
            kind, view = llvm_type(member.type), self.of(member)
            for word, item in enumerate(("ptr", "i64")):
                value = self.part(kind, view, word)
                place = self.value(f"getelementptr i64, ptr {table}, i64 {2 * i + word}")
                self.line(f"store {item} {value}, ptr {place}")
        return table

    # calls

    def _call(self, node: form.Call) -> str:
        function = node.function
        self.called[function.symbol] += 1
        arguments = [word for a in node.arguments for word in self.flat_words(a.type, self.of(a))]
        call = f"call {returned(function)} @{function.symbol}({', '.join(arguments)})"
        if not function.raises:
            if function.result is not NOTHING:
                return self.value(call)
            self.line(call)
            return ""
        returned_value = self.value(call)
        if function.result is NOTHING:
            self.propagate_status(returned_value)
            return ""
        self.propagate_status(self.value(f"extractvalue {returned(function)} {returned_value}, 0"))
        return self.value(f"extractvalue {returned(function)} {returned_value}, 1")

    def _callforlanes(self, node: form.CallForLanes) -> str:
        assert isinstance(node.type, Number)
        self.called[node.function.symbol] += node.type.lanes
        arguments = [(a.type, self.of(a)) for a in node.arguments]
        result = "undef"
        for lane in range(node.type.lanes):
            words = [
                f"double {self.value(f'extractelement {llvm_type(kind)} {text}, i32 {lane}')}"
                if is_for_lanes(kind)
                else f"{llvm_type(kind)} {text}"
                for kind, text in arguments
            ]
            number = self.value(f"call double @{node.function.symbol}({', '.join(words)})")
            result = self.value(f"insertelement {llvm_type(node.type)} {result}, double {number}, i32 {lane}")
        return result

    def propagate_status(self, status: str) -> None:
        """Return at once if a status is not 0."""
        bad, good = self.label(), self.label()
        is_bad = self.value(f"icmp ne {STATUS} {status}, 0")
        self.line(f"br i1 {is_bad}, label %{bad}, label %{good}, {arithmetic.UNLIKELY}")
        self.at(bad)
        self.return_status(status)
        self.at(good)

    def words(self, arguments: Sequence[Expression]) -> list[str]:
        """The words of the arguments of a call of machine code outside the module, each with its type."""
        return [word for a in arguments for word in self.flat_words(a.type, self.of(a))]

    def result_room(self, result: Type) -> str:
        """Memory for the result of a called function; it is 0, which stays if the function raises."""
        room = self.room("i64" if result is NOTHING else llvm_type(result))
        self.line(
            f"store {'i64 0' if result is NOTHING else f'{llvm_type(result)} {zero_of(result)}'}, ptr {room}"
        )
        return room

    def _calladdress(self, node: form.CallAddress) -> str:
        arguments = self.words(node.arguments)
        address = self.value(f"inttoptr i64 {self.of(node.address)} to ptr")
        if node.kind == form.FOREIGN:
            status_word = self.value(f"call {STATUS} {address}({', '.join(arguments)})")
            return self.value(f"sext {STATUS} {status_word} to i64")
        result = types_of(node.signature)[1]
        room = self.result_room(result)
        status = self.value(f"call {STATUS} {address}({', '.join([f'ptr {room}', *arguments])})")
        if node.kind == form.STATUS:
            return self.value(f"zext i1 {self.value(f'icmp ne {STATUS} {status}, 0')} to i64")
        return "" if result is NOTHING else self.value(f"load {llvm_type(result)}, ptr {room}")

    def _calllinked(self, node: form.CallLinked) -> str:
        arguments = self.words(node.arguments)
        room = self.result_room(node.type)
        kinds = ["ptr", *(word.split()[0] for word in arguments)]
        self.declare(node.symbol, f"declare {STATUS} @{node.symbol}({', '.join(kinds)})")
        self.propagate_status(
            self.value(f"call {STATUS} @{node.symbol}({', '.join([f'ptr {room}', *arguments])})")
        )
        return "" if node.type is NOTHING else self.value(f"load {llvm_type(node.type)}, ptr {room}")
