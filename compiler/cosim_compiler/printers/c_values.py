"""Expressions as C."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NoReturn

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.builtins import OF_C_LIBRARY, OF_PROCESSOR, TO_WHOLE
from cosim_compiler.language.typed_form import Expression, Function, is_pure, view_type
from cosim_compiler.language.types import (
    COLUMNS_IN_GROUP,
    NOTHING,
    REAL,
    TRUTH,
    WHOLE,
    Group,
    Number,
    Record,
    RecordRows,
    Tuple,
    Type,
    View,
    types_of,
)
from cosim_compiler.printers.c_declarations import Declarations
from cosim_compiler.printers.c_lines import shortened
from cosim_compiler.printers.c_names import NUMBERS, Names, Types, real, whole, words_of

RANK = {
    "or": 1, "and": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "+": 9, "-": 9, "*": 10, "/": 10,
}  # fmt: skip
"""How strongly an operator of C binds; those above all stand for a term."""
TERM = 20
TERM_TEXT = re.compile(r"[\w.]+(\([\w, ]*\))?((->|\.)\w+)*")
"""A name or a number, or a call of names, and what is read of it."""
OF_FUNCTIONS: dict[tuple[str, Type], str] = {
    ("%", REAL): "real_rest", ("//", REAL): "real_quotient", ("%", WHOLE): "rest", ("//", WHOLE): "quotient",
    ("<<", WHOLE): "shifted_left", (">>", WHOLE): "shifted_right",
}  # fmt: skip
EXTREMES: dict[tuple[str, Type], str] = {
    ("min", REAL): "least",
    ("max", REAL): "greatest",
    ("min", WHOLE): "least_whole",
    ("max", WHOLE): "greatest_whole",
}
SIGNS = {"and": "&&", "or": "||"}


class ValueWriter:
    """Writes expressions, and the lines that have to stand before them; see `c99.FunctionWriter`."""

    function: Function
    declares: Declarations
    tries: list[tuple[str, str]]

    def __init__(self, types: Types, names: Names, declared: dict[str, str]) -> None:
        self.types, self.names, self.declared = types, names, declared
        self.local = Names(types.structures, names.taken)
        self.lines: list[str] = []
        self.room: list[str] = []
        self.status: str | None = None
        self.indent = 1
        self.count = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def zero(self, kind: Type) -> str:
        """What a variable begins with, so that compilers do not complain."""
        if isinstance(kind, Number):
            return " = 0"
        return " = 0" if isinstance(kind, (Group, Record)) else " = {0}"

    def assign(self, name: str, value: Expression, is_declared: bool) -> None:
        raise NotImplementedError

    def handing_on(self, status: str) -> str:
        raise NotImplementedError

    # the order in which C computes

    def reads_memory(self, node: Expression) -> bool:
        """Whether its value depends on what lies in memory, which what comes later may change."""
        return form.reads_elements(node)

    def is_short(self, node: Expression, text: str) -> bool:
        """Whether an expression may stand twice: it is a name, or only finds a place."""
        return _is_term(text)

    def is_pure(self, node: Expression) -> bool:
        """Whether computing it twice, or not at all, changes nothing."""
        return is_pure(node)

    def in_order(self, nodes: Sequence[Expression]) -> list[str]:
        """Several expressions; where a later one calls something, elements are read before."""
        texts = []
        for i, node in enumerate(nodes):
            text = self.of(node)
            is_held = text.isidentifier() or not self.reads_memory(node)
            if not is_held and not all(map(self.is_pure, nodes[i + 1 :])):
                text = self.named(node.type, text)
            texts.append(text)
        return texts

    def new(self, word: str) -> str:
        """A name that no variable of the author's has."""
        self.count += 1
        return self.local[f"{word}.{self.count}"]

    def named(self, kind: Type, text: str) -> str:
        """A value under a name of its own."""
        name = self.new("value")
        self.line(f"{self.types[kind]} {name} = {text};")
        return name

    def with_lines(self, node: Expression) -> tuple[list[str], str]:
        """The lines that have to stand before an expression, and its text."""
        lines_before, self.lines = self.lines, []
        self.indent += 1
        text = self.of(node)
        self.indent -= 1
        before, self.lines = self.lines, lines_before
        return before, text

    def at_top(self, node: Expression) -> str:
        """An expression beside which nothing else is computed: a call may stand in it."""
        if isinstance(node, form.Call) and not node.function.raises:
            return self.call(node)
        return self.of(node)

    # expressions

    def of(self, node: Expression) -> str:
        """The text of an expression."""
        text: str = getattr(self, f"_{type(node).__name__.lower()}", self._unknown)(node)
        return text

    def _unknown(self, node: Expression) -> NoReturn:
        raise TypeError(node)

    def rank(self, node: Expression) -> int:
        """How strongly the outermost operator of an expression binds."""
        if isinstance(node, (form.Binary, form.Compare)):
            is_function = (node.operator, node.left.type) in OF_FUNCTIONS
            return TERM if is_function else RANK[node.operator]
        if isinstance(node, form.Logic):
            return RANK[node.operator]
        return self.rank(node.body) if isinstance(node, form.Let) else TERM

    def operands(self, node: form.Binary | form.Compare | form.Logic) -> tuple[str, str]:
        """Both operands, in brackets where they need them; C's own order is never relied on."""
        left, right = self.in_order([node.left, node.right])
        rank = RANK[node.operator]
        is_arithmetic = node.operator in "+-*/"
        if self.rank(node.left) < rank or (not is_arithmetic and self.rank(node.left) < TERM):
            left = bracketed(left)
        if self.rank(node.right) <= rank or (not is_arithmetic and self.rank(node.right) < TERM):
            right = bracketed(right)
        return left, right

    def _constant(self, node: form.Constant) -> str:
        if node.type is REAL:
            return real(node.value)
        return ("true" if node.value else "false") if node.type is TRUTH else whole(node.value)

    def _variable(self, node: form.Variable) -> str:
        return self.converted(self.function.variables[node.name], node.type, self.local[node.name])

    def _let(self, node: form.Let) -> str:
        self.assign(node.name, node.value, id(node) in self.declares.by)
        return self.of(node.body)

    def _unary(self, node: form.Unary) -> str:
        text = bracketed(self.of(node.operand))
        return f"{'!' if node.operator == 'not' else node.operator}{text}"

    def _binary(self, node: form.Binary) -> str:
        function = OF_FUNCTIONS.get((node.operator, node.type))
        if function is not None:
            return f"{function}({', '.join(self.in_order([node.left, node.right]))})"
        left, right = self.operands(node)
        return f"{left} {node.operator} {right}"

    def _compare(self, node: form.Compare) -> str:
        left, right = self.operands(node)
        return f"{left} {node.operator} {right}"

    def _logic(self, node: form.Logic) -> str:
        hoisted, right = self.with_lines(node.right)
        left = self.of(node.left)
        before, right = shortened(hoisted, right)
        if not before:
            if self.rank(node.left) < TERM and not isinstance(node.left, form.Compare):
                left = left if self._is_chain(node, node.left) else bracketed(left)
            if self.rank(node.right) < TERM and not isinstance(node.right, form.Compare):
                right = bracketed(right)
            text = f"{left} {SIGNS[node.operator]} {right}"
            return self.named(TRUTH, text) if hoisted else text
        name = self.named(TRUTH, left)
        self.line(f"if ({'' if node.operator == 'and' else '!'}{name}) {{")
        self.lines += before
        self.line(f"    {name} = {right};")
        self.line("}")
        return name

    @staticmethod
    def _is_chain(node: form.Logic, left: Expression) -> bool:
        return isinstance(left, form.Logic) and left.operator == node.operator

    def _choice(self, node: form.Choice) -> str:
        condition = self.of(node.condition)
        hoisted_yes, yes = self.with_lines(node.yes)
        hoisted_no, no = self.with_lines(node.no)
        (before_yes, yes), (before_no, no) = shortened(hoisted_yes, yes), shortened(hoisted_no, no)
        if not before_yes and not before_no:
            text = f"({condition} ? {yes} : {no})"
            return self.named(node.type, text) if hoisted_yes or hoisted_no else text
        name = self.new("value")
        self.line(f"{self.types[node.type]} {name};")
        self.line(f"if ({condition}) {{")
        self.lines += before_yes
        self.line(f"    {name} = {yes};")
        self.line("} else {")
        self.lines += before_no
        self.line(f"    {name} = {no};")
        self.line("}")
        return name

    def _mathematics(self, node: form.Mathematics) -> str:
        name, kind = node.name, node.arguments[0].type
        arguments = self.in_order(node.arguments)
        if name in ("frexp", "modf"):
            return self._in_two(node, arguments[0])
        if name == "ldexp":
            return f"ldexp({arguments[0]}, (int)least_whole(greatest_whole({arguments[1]}, -4096), 4096))"
        called = EXTREMES.get((name, kind), "whole_abs" if name == "abs" else name)
        assert called != name or name in (*OF_C_LIBRARY, *OF_PROCESSOR, *TO_WHOLE, "rint") or name[:2] == "is"
        text = f"{called}({', '.join(arguments)})"
        return f"({text} != 0)" if node.type is TRUTH else text

    def _in_two(self, node: form.Mathematics, argument: str) -> str:
        """A function that leaves its second result at an address."""
        name = self.new("second")
        self.line(f"{'int' if node.name == 'frexp' else 'double'} {name} = 0;")
        first = self.named(REAL, f"{node.name}({argument}, &{name})")
        return f"({self.types[node.type]}){{{first}, {name}}}"

    def _convert(self, node: form.Convert) -> str:
        return self.converted(node.operand.type, node.type, self.of(node.operand))

    def converted(self, kind: Type, wanted: Type, text: str) -> str:
        """A value as one of another type."""
        if kind == wanted:
            return text
        if isinstance(kind, Tuple) and isinstance(wanted, Tuple):
            held = self.named(kind, text)
            kinds = enumerate(zip(kind.items, wanted.items, strict=True))
            items = [self.converted(item_kind, to, f"{held}._{i}") for i, (item_kind, to) in kinds]
            return f"({self.types[wanted]}){{{', '.join(items)}}}"
        if isinstance(wanted, View):  # of a shape that is not known here
            return text
        if wanted is TRUTH:
            return f"({text} != 0)"
        if kind is REAL:
            return f"whole({text})"
        return f"({NUMBERS[wanted]}){bracketed(text)}" if isinstance(wanted, Number) else text

    # tuples

    def _maketuple(self, node: form.MakeTuple) -> str:
        return f"({self.types[node.type]}){{{', '.join(self.in_order(node.items)) or '0'}}}"

    def _item(self, node: form.Item) -> str:
        if isinstance(node.tuple, form.MakeTuple) and all(map(is_pure, node.tuple.items)):
            return bracketed(self.of(node.tuple.items[node.index]))
        return f"{self.of(node.tuple)}._{node.index}"

    def _pick(self, node: form.Pick) -> str:
        assert isinstance(node.tuple.type, Tuple)
        count = len(node.tuple.type.items)
        value, index = self.in_order([node.tuple, node.index])
        held = value if isinstance(node.tuple, form.Variable) else self.named(node.tuple.type, value)
        items = ", ".join(f"{held}._{i}" for i in range(count))
        return f"((const {self.types[node.type]}[]){{{items}}})[from_end({index}, {count})]"

    # views

    def _element(self, node: form.Element) -> str:
        view, *indices = self.in_order([node.view, *node.indices])
        if not isinstance(node.view, (form.Variable, form.Member)) and not self.is_short(node.view, view):
            view = self.named(node.view.type, view)
        flat = ""
        for axis, (index, text) in enumerate(zip(node.indices, indices, strict=True)):
            at = text
            if not self.declares.is_nonnegative(index):
                at = f"from_end({text}, {view}.{'nm'[axis]})"
            flat = f"{flat} * {view}.m + {at}" if axis else at
        return f"{view}.at[{flat}]"

    def _field(self, node: form.Field) -> str:
        record = self.of(node.record)
        is_place = record.startswith("(&") and isinstance(node.record, (form.RecordAt, form.Field))
        text = f"{record[2:-1]}.{node.name}" if is_place else f"{record}->{node.name}"
        return f"(&{text})" if isinstance(node.type, Record) else text

    def _recordat(self, node: form.RecordAt) -> str:
        if (
            isinstance(node.rows, form.RowsIn)
            and isinstance(node.index, form.Constant)
            and node.index.value >= 0
        ):
            view, first = self.in_order([node.rows.view, node.rows.first])
            place = f" + {node.index.value}" if node.index.value else ""
            return f"(({self.types[node.type]})({view}.at + {first}){place})"
        rows, index = self.in_order([node.rows, node.index])
        if not self.is_short(node.rows, rows):
            rows = self.named(node.rows.type, rows)
        if not self.declares.is_nonnegative(node.index):
            index = f"from_end({index}, {rows}.n)"
        return f"(&{rows}.at[{index}])"

    def _rowsin(self, node: form.RowsIn) -> str:
        view, first, count = self.in_order([node.view, node.first, node.count])
        if not isinstance(node.type, RecordRows):
            return f"({self.types[node.type]}){{{view}.at + {first}, {count}}}"
        kind = self.types[Record(node.type.of)]
        return f"({self.types[node.type]}){{({kind})({view}.at + {first}), {count}}}"

    def _length(self, node: form.Length) -> str:
        return f"{self.of(node.view)}.{'nm'[node.axis]}"

    def _section(self, node: form.Section) -> str:
        bounds = [bound for bound in (node.first, node.last) if bound is not None]
        view, *texts = self.in_order([node.view, *bounds])
        if not self.is_short(node.view, view):
            view = self.named(node.view.type, view)
        first = "0" if node.first is None else f"place({texts.pop(0)}, {view}.n)"
        last = f"{view}.n" if node.last is None else f"place({texts.pop(0)}, {view}.n)"
        name = "part" if view_type(node).item is REAL else "part_of_integers"
        return f"{name}({view}, {first}, {last})"

    def _row(self, node: form.Row) -> str:
        name = "row_of_matrix" if view_type(node).item is REAL else "row_of"
        return f"{name}({', '.join(self.in_order([node.view, node.index]))})"

    def _viewat(self, node: form.ViewAt) -> str:
        address, size = self.in_order([node.address, node.size])
        kind = view_type(node)
        columns = f", {node.columns}" if kind.axes == 2 else ""
        pointer = f"({NUMBERS[kind.item]} *)(intptr_t)({address})"
        return f"({self.types[kind]}){{{pointer}, {size}{columns}}}"

    def _astable(self, node: form.AsTable) -> str:
        view, rows, columns = self.in_order([node.view, node.rows, node.columns])
        if not self.is_short(node.view, view):
            view = self.named(node.view.type, view)
        return f"({self.types[node.type]}){{{view}.at, {rows}, {columns}}}"

    def _zeros(self, node: form.Zeros) -> str:
        kind = view_type(node)
        assert kind.shape is not None
        name, size = self.local[f"{node.name}.memory"], math.prod(kind.shape)
        self.room.append(f"    {NUMBERS[kind.item]} {name}[{max(size, 1)}];")
        self.line(f"for (int i = 0; i < {size}; i++) {name}[i] = 0;")
        return f"({self.types[kind]}){{{name}, {', '.join(map(str, kind.shape))}}}"

    def _constantview(self, node: form.ConstantView) -> str:
        kind = view_type(node)
        numbers = ", ".join((real if kind.item is REAL else whole)(number) for number in node.numbers)
        item = NUMBERS[kind.item]
        name = self.names[f"constant.{len(self.declared)}"]
        listed = f"static const {item} {{}}[] = {{{{{numbers or '0'}}}}};"
        same = next((n for n, line in self.declared.items() if line == listed.format(n)), None)
        if same is None:
            self.declared[name] = listed.format(name)
        lengths = ", ".join(map(str, node.shape))
        return f"({self.types[kind]}){{({item} *){same or name}, {lengths}}}"

    # groups

    def _groupat(self, node: form.GroupAt) -> str:
        return f"(({self.types[node.type]})(intptr_t)({self.of(node.address)}))"

    def _member(self, node: form.Member) -> str:
        text = f"{self.of(node.group)}->{node.name}"
        if view_type(node).axes == 1:
            return text
        return f"(table){{{text}.at, {text}.n, {COLUMNS_IN_GROUP}}}"

    def _makegroup(self, node: form.MakeGroup) -> str:
        kind = self.types[node.type].removeprefix("const ").removesuffix(" *")
        name = self.new("group")
        self.room.append(f"    {kind} {name};")
        assert isinstance(node.type, Group)
        fields = node.type.of._fields  # type: ignore[attr-defined]
        for field, text in zip(fields, self.in_order(node.members), strict=True):
            self.line(f"{name}.{field}.at = {text}.at;")
            self.line(f"{name}.{field}.n = {text}.n;")
        return f"&{name}"

    # calls

    def _call(self, node: form.Call) -> str:
        text = self.call(node)
        if node.type is NOTHING or node.function.raises:
            if text and node.type is NOTHING:
                self.line(f"{text};")
                return ""
            return text
        return self.named(node.type, text)

    def call(self, node: form.Call) -> str:
        """A call; of one that may raise the name of its result."""
        function, arguments = node.function, self.in_order(node.arguments)
        name = self.names[function.symbol]
        if not function.raises:
            return f"{name}({', '.join(arguments)})"
        result = ""
        if function.result is not NOTHING:
            result = self._result_room(function.result)
            arguments.append(f"&{result}")
        self._hand_on(f"{name}({', '.join(arguments)})")
        return result

    def _result_room(self, result: Type) -> str:
        name = self.new("found")
        kind = "int64_t" if result is NOTHING else self.types[result]
        self.line(f"{kind} {name}{self.zero(result)};")
        return name

    def _hand_on(self, call: str) -> None:
        """Call, and return a status that is not 0."""
        if not self.function.raises and not self.tries:  # what it calls never does
            self.line(f"(void){call};")
            return
        if self.status is None:
            self.status = self.new("status")
            self.room.append(f"    int32_t {self.status};")
        self.line(f"if (({self.status} = {call}) != 0) {self.handing_on(self.status)}")

    def words(self, arguments: Sequence[Expression], texts: Sequence[str]) -> list[str]:
        """Arguments, whose texts these are, as machine code that others compiled takes them."""
        words = []
        for argument, text in zip(arguments, texts, strict=True):
            if isinstance(argument.type, View):
                held = text if self.is_short(argument, text) else self.named(argument.type, text)
                words += [f"{held}.at", f"{held}.n", *([f"{held}.m"] if argument.type.axes == 2 else [])]
            else:
                words.append(text)
        return words

    def _calladdress(self, node: form.CallAddress) -> str:
        address, *texts = self.in_order([node.address, *node.arguments])
        arguments = self.words(node.arguments, texts)
        kinds = [word for argument in node.arguments for word in words_of(argument.type, self.types)]
        if node.kind == form.FOREIGN:
            called = f"((int32_t (*)({', '.join(kinds)}))(intptr_t)({address}))"
            return self.named(WHOLE, f"{called}({', '.join(arguments)})")
        result = types_of(node.signature)[1]
        room = self._result_room(result)
        if result is not NOTHING:
            self.line(f"{room} = 0;")
        called = f"((int32_t (*)({', '.join(['void *', *kinds])}))(intptr_t)({address}))"
        call = f"{called}({', '.join([f'&{room}', *arguments])})"
        if node.kind == form.STATUS:
            return self.named(WHOLE, f"{call} != 0")
        self.line(f"{call};")
        return "" if result is NOTHING else room

    def _calllinked(self, node: form.CallLinked) -> str:
        arguments = self.words(node.arguments, self.in_order(node.arguments))
        kinds = ["void *", *(w for a in node.arguments for w in words_of(a.type, self.types))]
        self.declared[node.symbol] = f"int32_t {node.symbol}({', '.join(kinds)});"
        room = self._result_room(node.type)
        self._hand_on(f"{node.symbol}({', '.join([f'&{room}', *arguments])})")
        return "" if node.type is NOTHING else room


def bracketed(text: str) -> str:
    """In brackets, where it is more than a term."""
    return text if _is_term(text) else f"({text})"


def _is_term(text: str) -> bool:
    return TERM_TEXT.fullmatch(text) is not None
