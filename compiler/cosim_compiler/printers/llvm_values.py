"""Expressions as LLVM's text."""

from __future__ import annotations

import ctypes
import math
import struct
from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Function, view_type
from cosim_compiler.language.types import (
    COLUMNS_IN_GROUP,
    COUNT,
    LANE_TRUTHS,
    LANES,
    NOTHING,
    REAL,
    Record,
    Tuple,
    Type,
    View,
    types_of,
)
from cosim_compiler.printers import llvm_arithmetic as arithmetic
from cosim_compiler.printers.llvm_types import (
    STATUS,
    alignment,
    constant,
    llvm_type,
    returned,
    words_of,
    zero_of,
)


class ValueWriter:
    """Writes instructions into a function; see `llvm.FunctionWriter`."""

    function: Function

    def __init__(self, declared: dict[str, str]) -> None:
        self.declared = declared
        self.head: list[str] = []  # memory of the frame
        self.lines: list[str] = []
        self.called: Counter[str] = Counter()  # how often which functions of the module
        self.packing = 0  # lines that take tuples apart for calls: they fall away where these are inlined
        self.count = 0
        self.is_live = True
        self.location = ""  # behind each instruction: the line that it comes from
        self.here = ".start"  # the label of the block that is written

    # text

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}{self.location}")

    def value(self, instruction: str) -> str:
        """Write an instruction; the name of its value."""
        self.count += 1
        self.lines.append(f"  %.{self.count} = {instruction}{self.location}")
        return f"%.{self.count}"

    def room(self, kind: str) -> str:
        """Memory in the frame of the function."""
        self.count += 1
        self.head.append(f"  %.{self.count} = alloca {kind}")
        return f"%.{self.count}"

    def declare(self, name: str, line: str) -> None:
        """A function from outside."""
        self.declared.setdefault(name, line)

    def label(self) -> str:
        self.count += 1
        return f".L{self.count}"

    def branch(self, label: str) -> None:
        """Jump to a label, where this place is reached."""
        if self.is_live:
            self.line(f"br label %{label}")
        self.is_live = False

    def at(self, label: str) -> None:
        """Begin a basic block at a label."""
        self.lines.append(f"{label}:")
        self.is_live = True
        self.here = label

    def fails(self, status: str) -> None:
        raise NotImplementedError

    def assign(self, name: str, value: Expression) -> None:
        raise NotImplementedError

    # expressions

    def of(self, node: Expression) -> str:
        """Write what computes an expression; the name of its value, or a constant."""
        text: str = getattr(self, f"_{type(node).__name__.lower()}", self._unknown)(node)
        return text

    def _unknown(self, node: Expression) -> NoReturn:
        raise TypeError(node)

    def _constant(self, node: form.Constant) -> str:
        return constant(node.type, node.value)

    def _variable(self, node: form.Variable) -> str:
        kind = self.function.variables[node.name]
        return self.converted(kind, node.type, self.value(f"load {llvm_type(kind)}, ptr %{node.name}.a"))

    def _let(self, node: form.Let) -> str:
        self.assign(node.name, node.value)
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
            items = [
                (
                    llvm_type(to),
                    self.converted(item_kind, to, self.value(f"extractvalue {llvm_type(kind)} {text}, {i}")),
                )
                for i, (item_kind, to) in enumerate(kinds)
            ]
            return arithmetic.pair(self, llvm_type(wanted), *items)
        return arithmetic.convert(self, kind, wanted, text)

    def _logic(self, node: form.Logic) -> str:
        if node.type is LANE_TRUTHS:
            both = self.of(node.left), self.of(node.right)
            return self.value(f"{node.operator} {llvm_type(node.type)} {both[0]}, {both[1]}")
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
        if node.condition.type is LANE_TRUTHS:
            condition, *both = map(self.of, (node.condition, node.yes, node.no))
            return arithmetic.select(self, node.type, condition, *both)
        yes, no, end = self.label(), self.label(), self.label()
        self.line(f"br i1 {self.of(node.condition)}, label %{yes}, label %{no}")
        incoming = []
        for label, branch in ((yes, node.yes), (no, node.no)):
            self.at(label)
            text = self.of(branch)
            incoming.append(f"[{text}, %{self.here}]")
            self.branch(end)
        self.at(end)
        return self.value(f"phi {llvm_type(node.type)} {', '.join(incoming)}")

    # tuples

    def _maketuple(self, node: form.MakeTuple) -> str:
        items = [(llvm_type(item.type), self.of(item)) for item in node.items]
        return arithmetic.pair(self, llvm_type(node.type), *items)

    def _item(self, node: form.Item) -> str:
        place = self._place_of_item(node)
        if place is not None:
            return self.value(f"load {llvm_type(node.type)}, ptr {place}")
        return self.value(f"extractvalue {llvm_type(node.tuple.type)} {self.of(node.tuple)}, {node.index}")

    def _place_of_item(self, node: form.Item) -> str | None:
        """The place in the frame of an item of a local tuple; the other items are not read."""
        indices: list[str] = []
        held: Expression = node
        while isinstance(held, form.Item):
            indices.insert(0, f"i32 {held.index}")
            held = held.tuple
        if not isinstance(held, form.Variable) or self.function.variables[held.name] != held.type:
            return None
        kind = llvm_type(held.type)
        return self.value(f"getelementptr {kind}, ptr %{held.name}.a, i32 0, {', '.join(indices)}")

    def _pick(self, node: form.Pick) -> str:
        """A switch, which folds away where a loop over the places is written out; all places are inside."""
        assert isinstance(node.tuple.type, Tuple)
        count, kind = len(node.tuple.type.items), llvm_type(node.tuple.type)
        value, place = self.of(node.tuple), self.of(node.index)
        cases, beyond, end = [self.label() for _ in range(count)], self.label(), self.label()
        listed = " ".join(f"i64 {i}, label %{c} i64 {i - count}, label %{c}" for i, c in enumerate(cases))
        self.line(f"switch i64 {place}, label %{beyond} [{listed}]")
        incoming = []
        for i, case in enumerate(cases):
            self.at(case)
            incoming.append(f"[{self.value(f'extractvalue {kind} {value}, {i}')}, %{case}]")
            self.branch(end)
        self.at(beyond)
        self.line("unreachable")
        self.at(end)
        return self.value(f"phi {llvm_type(node.type)} {', '.join(incoming)}")

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
        size = ctypes.sizeof(node.type.of) * (COUNT if node.type.in_lanes else 1)
        offset = self.value(f"mul i64 {index}, {size}")
        start = self.value(f"extractvalue {{ptr, i64}} {rows}, 0")
        return self.value(f"getelementptr i8, ptr {start}, i64 {offset}")

    def _rowsin(self, node: form.RowsIn) -> str:
        start = self.value(f"extractvalue {{ptr, i64}} {self.of(node.view)}, 0")
        item = llvm_type(view_type(node.view).item)
        start = self.value(f"getelementptr {item}, ptr {start}, i64 {self.of(node.first)}")
        return arithmetic.pair(self, "{ptr, i64}", ("ptr", start), ("i64", self.of(node.count)))

    def place(self, node: form.Element | form.Field) -> str:
        """The address of an element or of a field."""
        if isinstance(node, form.Field):
            return self.value(f"getelementptr i8, ptr {self.of(node.record)}, i64 {node.offset}")
        kind, view = llvm_type(node.view.type), self.of(node.view)
        flat = ""
        for axis, index in enumerate(node.indices):
            at = self._counted(index, kind, view, axis)
            if axis:
                columns = self.value(f"extractvalue {kind} {view}, {axis + 1}")
                flat = self.value(f"mul i64 {flat}, {columns}")
                flat = self.value(f"add i64 {flat}, {at}")
            else:
                flat = at
        start = self.value(f"extractvalue {kind} {view}, 0")
        return self.value(f"getelementptr {llvm_type(node.type)}, ptr {start}, i64 {flat}")

    def _counted(self, index: Expression, kind: str, view: str, axis: int) -> str:
        """An index; a negative one counts from the end.

        That is a branch that is hardly taken: with a choice every address waits for the length.
        """
        text = self.of(index)
        if isinstance(index, form.Constant) and index.value >= 0:
            return text
        length = self.value(f"extractvalue {kind} {view}, {axis + 1}")
        if isinstance(index, form.Constant):
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
        return self.value(f"extractvalue {llvm_type(node.view.type)} {self.of(node.view)}, {node.axis + 1}")

    def _section(self, node: form.Section) -> str:
        """Places beyond the ends mean the ends, as in Python; nearly always they lie inside, in order."""
        view = self.of(node.view)
        length = self.value(f"extractvalue {{ptr, i64}} {view}, 1")
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
        start = self.value(f"extractvalue {{ptr, i64}} {view}, 0")
        start = self.value(f"getelementptr {llvm_type(view_type(node).item)}, ptr {start}, i64 {first}")
        return arithmetic.pair(self, "{ptr, i64}", ("ptr", start), ("i64", count))

    def _bound(self, text: str, length: str) -> str:
        """The first or last place of a section, between 0 and the length."""
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
        columns = self.value(f"extractvalue {kind} {table}, 2")
        start = self.value(f"extractvalue {kind} {table}, 0")
        index = self.value(f"mul i64 {index}, {columns}")
        start = self.value(f"getelementptr {llvm_type(view_type(node).item)}, ptr {start}, i64 {index}")
        return arithmetic.pair(self, "{ptr, i64}", ("ptr", start), ("i64", columns))

    def _viewat(self, node: form.ViewAt) -> str:
        start = self.value(f"inttoptr i64 {self.of(node.address)} to ptr")
        size = ("i64", self.of(node.size))
        if view_type(node).axes == 1:
            return arithmetic.pair(self, "{ptr, i64}", ("ptr", start), size)
        return arithmetic.pair(self, "{ptr, i64, i64}", ("ptr", start), size, ("i64", str(node.columns)))

    def _astable(self, node: form.AsTable) -> str:
        start = self.value(f"extractvalue {{ptr, i64}} {self.of(node.view)}, 0")
        lengths = [("i64", self.of(length)) for length in (node.rows, node.columns)]
        return arithmetic.pair(self, "{ptr, i64, i64}", ("ptr", start), *lengths)

    def _aslanes(self, node: form.AsLanes) -> str:
        view = self.of(node.view)
        start, count = (self.value(f"extractvalue {{ptr, i64}} {view}, {i}") for i in range(2))
        count = self.value(f"{'sdiv' if view_type(node).item is LANES else 'mul'} i64 {count}, {COUNT}")
        return arithmetic.pair(self, "{ptr, i64}", ("ptr", start), ("i64", count))

    def _agreed(self, node: form.Agreed) -> str:
        truths = self.value(f"bitcast {llvm_type(LANE_TRUTHS)} {self.of(node.condition)} to i{COUNT}")
        every = self.value(f"icmp eq i{COUNT} {truths}, -1")
        some = self.value(f"icmp ne i{COUNT} {truths}, 0")
        differs = self.value(f"xor i1 {every}, {some}")
        self.hand_on(self.value(f"select i1 {differs}, {STATUS} {node.number}, {STATUS} 0"))
        return every

    def _zeros(self, node: form.Zeros) -> str:
        view = view_type(node)
        assert view.shape is not None
        memory = f"[{math.prod(view.shape)} x {llvm_type(view.item)}]"
        room = self.room(memory)
        self.line(f"store {memory} zeroinitializer, ptr {room}")
        return arithmetic.pair(self, llvm_type(view), ("ptr", room), *(("i64", str(n)) for n in view.shape))

    def _constantview(self, node: form.ConstantView) -> str:
        view = view_type(node)
        item = llvm_type(view.item)
        numbers = [constant(view.item, number) for number in node.numbers]
        packed = [struct.pack("<d" if view.item is REAL else "<q", number) for number in node.numbers]
        name = f"constant.{b''.join(packed).hex()[:64]}.{len(numbers)}.{item}.{len(self.declared)}"
        kind = f"[{len(numbers)} x {item}]"
        listed = ", ".join(f"{item} {number}" for number in numbers)
        self.declare(name, f'@"{name}" = private constant {kind} [{listed}]')
        lengths = [("i64", str(length)) for length in node.shape]
        return arithmetic.pair(self, llvm_type(view), ("ptr", f'@"{name}"'), *lengths)

    # groups

    def _groupat(self, node: form.GroupAt) -> str:
        return self.value(f"inttoptr i64 {self.of(node.address)} to ptr")

    def _member(self, node: form.Member) -> str:
        """Addresses and lengths in the table of a group do not change while machine code runs."""
        table = self.of(node.group)
        place = self.value(f"getelementptr {{ptr, i64}}, ptr {table}, i64 {node.index}")
        pair = self.value(f"load {{ptr, i64}}, ptr {place}, !invariant.load !0")
        if view_type(node).axes == 1:
            return pair
        start, rows = (self.value(f"extractvalue {{ptr, i64}} {pair}, {i}") for i in range(2))
        columns = ("i64", str(COLUMNS_IN_GROUP))
        return arithmetic.pair(self, "{ptr, i64, i64}", ("ptr", start), ("i64", rows), columns)

    def _makegroup(self, node: form.MakeGroup) -> str:
        table = self.room(f"[{len(node.members)} x {{ptr, i64}}]")
        for i, member in enumerate(node.members):
            kind, view = llvm_type(member.type), self.of(member)
            for word, item in enumerate(("ptr", "i64")):
                value = self.value(f"extractvalue {kind} {view}, {word}")
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
            self.hand_on(returned_value)
            return ""
        self.hand_on(self.value(f"extractvalue {returned(function)} {returned_value}, 0"))
        return self.value(f"extractvalue {returned(function)} {returned_value}, 1")

    def _callforlanes(self, node: form.CallForLanes) -> str:
        self.called[node.function.symbol] += COUNT
        arguments = [(a.type, self.of(a)) for a in node.arguments]
        result = "undef"
        for lane in range(COUNT):
            words = [
                f"double {self.value(f'extractelement {llvm_type(kind)} {text}, i32 {lane}')}"
                if kind is LANES
                else f"{llvm_type(kind)} {text}"
                for kind, text in arguments
            ]
            one = self.value(f"call double @{node.function.symbol}({', '.join(words)})")
            result = self.value(f"insertelement {llvm_type(LANES)} {result}, double {one}, i32 {lane}")
        return result

    def hand_on(self, status: str) -> None:
        """Return a status that is not 0 at once."""
        bad, good = self.label(), self.label()
        is_bad = self.value(f"icmp ne {STATUS} {status}, 0")
        self.line(f"br i1 {is_bad}, label %{bad}, label %{good}, {arithmetic.UNLIKELY}")
        self.at(bad)
        self.fails(status)
        self.at(good)

    def words(self, arguments: Sequence[Expression]) -> list[str]:
        """Arguments as machine code that others compiled takes them, each with its type."""
        return [word for a in arguments for word in self.flat_words(a.type, self.of(a))]

    def flat_words(self, kind: Type, text: str) -> list[str]:
        """The words of a value, each with its type."""
        words, structure_type = words_of(kind), llvm_type(kind)
        if isinstance(kind, Tuple):
            before, items = len(self.lines) - self.packing, []
            for i, item in enumerate(kind.items):
                items += self.flat_words(item, self.value(f"extractvalue {structure_type} {text}, {i}"))
            self.packing = len(self.lines) - before
            return items
        if len(words) == 1:
            return [f"{structure_type} {text}"]
        return [
            f"{word} {self.value(f'extractvalue {structure_type} {text}, {i}')}"
            for i, word in enumerate(words)
        ]

    def together(self, kind: Type, name: str) -> tuple[str, list[str]]:
        """A value that is passed as words of this name, and these words, each with its type."""
        if isinstance(kind, Tuple):
            before = len(self.lines) - self.packing
            items = [(item, *self.together(item, f"{name}.{i}")) for i, item in enumerate(kind.items)]
            typed_items = [(llvm_type(item), text) for item, text, _ in items]
            structure = arithmetic.pair(self, llvm_type(kind), *typed_items)
            self.packing = len(self.lines) - before
            return structure, [word for _, _, of_item in items for word in of_item]
        words = words_of(kind)
        if len(words) == 1:
            return name, [f"{words[0]} {name}"]
        parts = [(word, f"{name}.{i}") for i, word in enumerate(words)]
        return arithmetic.pair(self, llvm_type(kind), *parts), [f"{word} {part}" for word, part in parts]

    def result_room(self, result: Type) -> str:
        """The memory for the result of a called function: 0 if the function raises."""
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
        self.hand_on(self.value(f"call {STATUS} @{node.symbol}({', '.join([f'ptr {room}', *arguments])})"))
        return "" if node.type is NOTHING else self.value(f"load {llvm_type(node.type)}, ptr {room}")
