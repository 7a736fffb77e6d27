"""Reading expressions: from Python's syntax tree to the typed form."""

from __future__ import annotations

import ast
import builtins
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from cosim_compiler.language.calls import call_of
from cosim_compiler.language.constants import convert, known, made_tuple, parts_of
from cosim_compiler.language.lifetimes import Lifetimes
from cosim_compiler.language.reading import Functions
from cosim_compiler.language.typed_form import (
    ZERO,
    Binary,
    Choice,
    Compare,
    Constant,
    Element,
    Expression,
    Field,
    Function,
    Item,
    Known,
    Length,
    Let,
    Logic,
    Member,
    Pick,
    RecordAt,
    Row,
    Section,
    Unary,
    Variable,
    is_pure,
)
from cosim_compiler.language.types import (
    REAL,
    TRUTH,
    WHOLE,
    DisagreementError,
    Group,
    Number,
    Record,
    RecordRows,
    Tuple,
    Type,
    View,
    in_words,
    is_number,
    unify,
    unify_all,
)
from cosim_compiler.nearest import nearest
from cosim_compiler.record import Rows, layout_of

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
OF_WHOLE = ("<<", ">>", "&", "|", "^")
IN_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip
COMPARISONS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
COMPUTE = "compute with their elements"


class ExpressionReader:
    """The half of the reader that reads expressions; see `statements.Reader`."""

    program: Functions
    function: Function
    author: Any  # a function, which type checkers would take for a method
    environment: dict[str, Any]
    lifetimes: Lifetimes
    variables: dict[str, Type]

    def refuse(self, node: ast.AST | None, sentence: str) -> NoReturn:
        raise NotImplementedError

    def typed(self, expression: Expression, node: ast.AST) -> Expression:
        raise NotImplementedError

    def new_name(self, type_: Type) -> str:
        raise NotImplementedError

    def let(self, value: Expression, build: Callable[[Expression], Expression]) -> Expression:
        """What `build` makes of a value that it may read several times, or in part."""
        if is_pure(value):
            return build(value)
        name = self.new_name(value.type)
        body = build(Variable(value.type, name))
        return Let(body.type, name, value, body)

    def expression(self, node: ast.expr) -> Expression:
        """What an expression computes; `Known` where Python knows it."""
        read = getattr(self, f"_{type(node).__name__.lower()}_expression", None)
        if read is None:
            self.refuse(node, f"the language has no {type(node).__name__.lower()}")
        found: Expression = read(node)
        return found

    def number(self, node: ast.expr) -> Expression:
        """An expression that has to be a number."""
        value = self.typed(self.expression(node), node)
        if not is_number(value.type):
            self.refuse(node, f"a number is needed, and this is {in_words(value.type)}")
        return value

    def condition(self, node: ast.expr) -> Expression:
        """An expression as a truth value; `Known` where Python knows it."""
        if isinstance(node, ast.BoolOp):
            return self._joined(node, self.condition)
        return self.truth(self.expression(node), node)

    def truth(self, value: Expression, node: ast.AST) -> Expression:
        if isinstance(value, Known):
            return known(bool(value.value))
        if value.type in (REAL, WHOLE):
            return Compare(TRUTH, "!=", value, convert(ZERO, value.type))
        if value.type is not TRUTH:
            self.refuse(node, f"{in_words(value.type)} is neither true nor false: compare its elements")
        return value

    # names and constants

    def _constant_expression(self, node: ast.Constant) -> Expression:
        return known(node.value)

    def _name_expression(self, node: ast.Name) -> Expression:
        return self.name(node)

    def name(self, node: ast.Name) -> Expression:
        """What a name stands for."""
        if node.id in self.lifetimes.local:
            name = self.lifetimes.read[id(node)]
            return Variable(self.variables[name], name)
        if node.id in self.environment:
            return known(self.environment[node.id])
        if hasattr(builtins, node.id):
            return known(getattr(builtins, node.id))
        self.refuse(node, f"'{node.id}' is not defined")

    def _attribute_expression(self, node: ast.Attribute) -> Expression:
        value = self.expression(node.value)
        if isinstance(value, Known):
            if not hasattr(value.value, node.attr):
                self.refuse(node, f"there is no '{node.attr}'")
            return known(getattr(value.value, node.attr))
        if isinstance(value.type, Group) and node.attr in value.type.of._fields:  # type: ignore[attr-defined]
            index, view = value.type.member(node.attr)
            return Member(view, value, index, node.attr)
        if isinstance(value.type, Record):
            return self.field(value, node)
        fields = getattr(value.type.of, "_fields", ()) if isinstance(value.type, Tuple) else ()
        if node.attr in fields:
            return self._item(value, fields.index(node.attr))
        if isinstance(value.type, View) and node.attr == "shape":
            return made_tuple([Length(WHOLE, value, axis) for axis in range(value.type.axes)])
        if isinstance(value.type, View) and node.attr == "size":
            sizes: list[Expression] = [Length(WHOLE, value, axis) for axis in range(value.type.axes)]
            return functools.reduce(lambda a, b: Binary(WHOLE, "*", a, b), sizes)
        self.refuse(node, f"{in_words(value.type)} has no '{node.attr}'")

    def field(self, record: Expression, node: ast.Attribute) -> Field:
        """A field of a record."""
        assert isinstance(record.type, Record)
        layout = {name: (offset, kind) for name, offset, kind in layout_of(record.type.of)}
        if node.attr not in layout:
            near = nearest(node.attr, layout)
            more = f"; nearest: '{near}'" if near else ""
            self.refuse(node, f"{record.type.of.__name__} has no field '{node.attr}'{more}")
        offset, kind = layout[node.attr]
        return Field(_type_of_field(kind), record, node.attr, offset)

    def _tuple_expression(self, node: ast.Tuple) -> Expression:
        def build(items: list[Expression]) -> Expression:
            if all(isinstance(item, Known) for item in items):
                return known(tuple(item.value for item in items if isinstance(item, Known)))
            return made_tuple([self.typed(item, node) for item in items])

        return self.with_items(node.elts, build)

    def with_items(
        self, nodes: Sequence[ast.expr], build: Callable[[list[Expression]], Expression]
    ) -> Expression:
        """What `build` makes of several expressions; ``*x`` stands for the items of a tuple."""
        found: list[Expression] = []
        named: list[tuple[str, Expression]] = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                found.append(self.expression(node))
                continue
            value = self.expression(node.value)
            if isinstance(value, Known) and isinstance(value.value, tuple):
                found += map(known, value.value)
                continue
            value = self.typed(value, node)
            if not isinstance(value.type, Tuple):
                self.refuse(node, f"* is for tuples, and this is {in_words(value.type)}")
            if not is_pure(value):
                named.append((self.new_name(value.type), value))
                value = Variable(value.type, named[-1][0])
            found += parts_of(value)
        made = build(found)
        for name, value in reversed(named):
            made = Let(made.type, name, value, made)
        return made

    # elements

    def _subscript_expression(self, node: ast.Subscript) -> Expression:
        value = self.expression(node.value)
        if isinstance(value, Known) and not isinstance(value.value, np.ndarray):
            index = self._known_index(node.slice)
            if index is not None and isinstance(value.value, tuple):
                return self._known_item(value.value, index, node)
        value = self.typed(value, node.value)
        if isinstance(value.type, View):
            return self._of_view(value, node)
        if isinstance(value.type, RecordRows) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return RecordAt(Record(value.type.of), value, self._index(node.slice))
        if not isinstance(value.type, Tuple):
            self.refuse(node, f"[…] is asked of {in_words(value.type)}, which has no elements")
        if isinstance(node.slice, ast.Slice):
            return self._part(value, node)
        place = self.typed(self.expression(node.slice), node.slice)
        if isinstance(place, Constant) and place.type is WHOLE:
            if not -len(value.type.items) <= place.value < len(value.type.items):
                self.refuse(node, f"the tuple has {len(value.type.items)} items")
            return self._item(value, place.value % len(value.type.items))
        return self._pick(value, self._index(node.slice), node)

    def _known_index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            ends = [None if e is None else self.expression(e) for e in (node.lower, node.upper, node.step)]
            if all(e is None or isinstance(e, Known) for e in ends):
                return slice(*(e.value if isinstance(e, Known) else None for e in ends))
            return None
        index = self.expression(node)
        return index.value if isinstance(index, Known) else None

    def _known_item(self, value: tuple[Any, ...], index: Any, node: ast.Subscript) -> Expression:
        try:
            return known(value[index])
        except IndexError:
            self.refuse(node, f"the tuple has {len(value)} items")
        except TypeError:
            self.refuse(node.slice, f"the place [{index!r}] is no whole number: write int(…)")

    @staticmethod
    def _item(value: Expression, index: int) -> Expression:
        assert isinstance(value.type, Tuple)
        return parts_of(value)[index] if is_pure(value) else Item(value.type.items[index], value, index)

    def _part(self, value: Expression, node: ast.Subscript) -> Expression:
        """Some items of a tuple."""
        index = self._known_index(node.slice)
        if index is None:
            self.refuse(node, "the part of a tuple has constant places: write v[0:3]")
        return self.let(value, lambda held: made_tuple(parts_of(held)[index]))

    def _pick(self, value: Expression, index: Expression, node: ast.AST) -> Expression:
        assert isinstance(value.type, Tuple)
        if not value.type.items:
            self.refuse(node, "the tuple has no items")
        try:
            item = unify_all(value.type.items)
        except DisagreementError:
            self.refuse(
                node, "a tuple of different kinds has elements at fixed places alone: make them of one kind"
            )
        self.function.picks = True
        return Pick(item, convert(value, Tuple((item,) * len(value.type.items))), index)

    def _index(self, node: ast.expr) -> Expression:
        value = self.typed(self.expression(node), node)
        if value.type not in (WHOLE, TRUTH):
            self.refuse(node, f"the place [{in_words(value.type)}] is no whole number: write int(…)")
        return convert(value, WHOLE)

    def _of_view(self, value: Expression, node: ast.Subscript) -> Expression:
        assert isinstance(value.type, View)
        if isinstance(node.slice, ast.Slice):
            if node.slice.step is not None:
                self.refuse(node, "a view is contiguous, so its parts have no step: write x[first:last]")
            if value.type.axes != 1:
                self.refuse(node, "write the row of a table, m[i], or an element, m[i, j]")
            first = None if node.slice.lower is None else self._index(node.slice.lower)
            last = None if node.slice.upper is None else self._index(node.slice.upper)
            return Section(value.type, value, first, last)
        if value.type.axes == 2 and not isinstance(node.slice, ast.Tuple):
            return Row(View(value.type.item), value, self._index(node.slice))
        return self._element(value, node)

    def place(self, node: ast.Subscript | ast.Attribute) -> Element | Field:
        """The place that is written to."""
        owner = self.typed(self.expression(node.value), node.value)
        if isinstance(node, ast.Attribute):
            if not isinstance(owner.type, Record):
                self.refuse(node, f"{in_words(owner.type)} has no fields that are set")
            place = self.field(owner, node)
            if not is_number(place.type):
                self.refuse(
                    node, f"{in_words(place.type)} is not set as a whole: write its fields, one by one"
                )
            return place
        if isinstance(owner.type, Tuple):
            self.refuse(node, "the elements of a tuple cannot be changed: make another one, (x, y, z)")
        if not isinstance(owner.type, View) or isinstance(node.slice, ast.Slice):
            self.refuse(node, "an element of a view is set: x[0] = …; several in a loop")
        return self._element(owner, node)

    def _element(self, view: Expression, node: ast.Subscript) -> Element:
        assert isinstance(view.type, View)
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(nodes) != view.type.axes:
            self.refuse(
                node, f"{in_words(view.type)} has {view.type.axes} indices, and is given {len(nodes)}"
            )
        return Element(view.type.item, view, tuple(map(self._index, nodes)))

    def item_at(self, value: Expression, index: Expression, node: ast.AST) -> Expression:
        """The element of a view or the item of a tuple in a turn of a loop."""
        if isinstance(value.type, Tuple):
            return self._pick(value, index, node)
        if isinstance(value.type, RecordRows):
            return RecordAt(Record(value.type.of), value, index)
        assert isinstance(value.type, View)
        return Element(value.type.item, value, (index,))

    # operators

    def _unaryop_expression(self, node: ast.UnaryOp) -> Expression:
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            truth = self.truth(value, node.operand)
            return known(not truth.value) if isinstance(truth, Known) else Unary(TRUTH, "not", truth)
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        if isinstance(value, Known) and isinstance(value.value, (int, float, np.number)):
            in_python: Any = {"-": operator.neg, "+": operator.pos, "~": operator.invert}[sign]
            return known(in_python(value.value))
        value = self.typed(value, node.operand)
        if not is_number(value.type) or (sign == "~" and value.type is REAL):
            self.refuse(node, f"`{sign}` does not take {in_words(value.type)}: {COMPUTE}")
        value = convert(value, unify(value.type, WHOLE))
        return value if sign == "+" else Unary(value.type, sign, value)

    def _binop_expression(self, node: ast.BinOp) -> Expression:
        sign = OPERATORS.get(type(node.op))
        if sign is None:
            self.refuse(node, "write x * x, or math.pow(x, y) for a real exponent")
        return self.binary(sign, self.expression(node.left), self.expression(node.right), node)

    def binary(self, sign: str, left: Expression, right: Expression, node: ast.AST) -> Expression:
        """The value of an operator."""
        if isinstance(left, Known) and isinstance(right, Known) and _are_computable(left.value, right.value):
            folded = self._folded(sign, left.value, right.value, node)
            if folded is not None:
                return folded
        left, right = self.typed(left, node), self.typed(right, node)
        if sign == "+" and isinstance(left.type, Tuple) and isinstance(right.type, Tuple):
            return self.let(
                left,
                lambda one: self.let(right, lambda two: made_tuple([*parts_of(one), *parts_of(two)])),
            )
        if not (is_number(left.type) and is_number(right.type)):
            if isinstance(left.type, View) or isinstance(right.type, View):
                self.refuse(
                    node,
                    "this makes an array, and compiled code does not allocate: "
                    "compute with its elements, one by one: for i in range(3): x[i] = …",
                )
            self.refuse(
                node, f"`{sign}` does not take {in_words(left.type)} and {in_words(right.type)}: {COMPUTE}"
            )
        both = REAL if sign == "/" else unify(unify(left.type, right.type), WHOLE)
        if sign in OF_WHOLE and both is REAL:
            self.refuse(node, f"`{sign}` takes whole numbers: write int(…)")
        if sign in "&|^" and left.type is right.type is TRUTH:
            both = TRUTH
        return Binary(both, sign, convert(left, both), convert(right, both))

    def _folded(self, sign: str, left: Any, right: Any, node: ast.AST) -> Expression | None:
        """What Python computes at once; None where it raises, and the processor has an answer."""
        if sign == "<<" and isinstance(right, int) and right > 64:
            self.refuse(node, "this does not fit into 64 bits")
        try:
            with np.errstate(all="ignore"):
                return known(IN_PYTHON[sign](left, right))
        except ArithmeticError:
            return None
        except (TypeError, ValueError) as fault:
            self.refuse(node, str(fault))

    def _compare_expression(self, node: ast.Compare) -> Expression:
        values = [self.expression(node.left), *map(self.expression, node.comparators)]
        if len(values) > 2:  # those in the middle are compared twice
            return self._chained(values, node)
        return self._compared(node.ops, values, node)

    def _chained(self, values: list[Expression], node: ast.Compare) -> Expression:
        named: list[tuple[str, Expression]] = []
        for i, value in enumerate(values[1:-1], 1):
            if not is_pure(value):
                named.append((self.new_name(value.type), value))
                values[i] = Variable(value.type, named[-1][0])
        made = self._compared(node.ops, values, node)
        for name, value in reversed(named):
            made = Let(made.type, name, value, made)
        return made

    def _compared(
        self, signs: Sequence[ast.cmpop], values: Sequence[Expression], node: ast.AST
    ) -> Expression:
        found: Expression = known(True)
        for sign, left, right in zip(signs, values, values[1:], strict=False):
            if isinstance(sign, (ast.In, ast.NotIn)):
                one = self._is_in(left, right, node)
                if isinstance(sign, ast.NotIn):
                    one = known(not one.value) if isinstance(one, Known) else Unary(TRUTH, "not", one)
            elif type(sign) in COMPARISONS:
                one = self.compare(COMPARISONS[type(sign)], left, right, node)
            else:
                self.refuse(node, "numbers are compared with ==")
            found = self.logic("and", found, one)
        return found

    def _is_in(self, value: Expression, among: Expression, node: ast.AST) -> Expression:
        given = self.typed(among, node)
        if not isinstance(given.type, Tuple):
            self.refuse(node, f"`in` is for tuples, and this is {in_words(given.type)}")

        def build(one: Expression, others: list[Expression]) -> Expression:
            found: Expression = known(False)
            for other in others:
                found = self.logic("or", found, self.compare("==", one, other, node))
            return found if not isinstance(found, Known) else Constant(TRUTH, bool(found.value))

        return self.let(value, lambda a: self.let(given, lambda b: build(a, parts_of(b))))

    def compare(self, sign: str, left: Expression, right: Expression, node: ast.AST) -> Expression:
        """A comparison; tuples are equal where all their items are."""
        if isinstance(left, Known) and isinstance(right, Known):
            return known(bool(IN_PYTHON[sign](left.value, right.value)))
        left, right = self.typed(left, node), self.typed(right, node)
        if isinstance(left.type, Tuple) and isinstance(right.type, Tuple):
            return self._compare_tuples(sign, left, right, node)
        if not (is_number(left.type) and is_number(right.type)):
            self.refuse(
                node, f"`{sign}` does not take {in_words(left.type)} and {in_words(right.type)}: {COMPUTE}"
            )
        both = unify(unify(left.type, right.type), WHOLE)
        return Compare(TRUTH, sign, convert(left, both), convert(right, both))

    def _compare_tuples(self, sign: str, left: Expression, right: Expression, node: ast.AST) -> Expression:
        if sign not in ("==", "!="):
            self.refuse(node, f"`{sign}` does not take tuples: {COMPUTE}")

        def build(ones: list[Expression], others: list[Expression]) -> Expression:
            found: Expression = known(len(ones) == len(others))
            for one, other in zip(ones, others, strict=False):
                found = self.logic("and", found, self.compare("==", one, other, node))
            if isinstance(found, Known):
                found = Constant(TRUTH, bool(found.value))
            return found if sign == "==" else Unary(TRUTH, "not", found)

        return self.let(left, lambda a: self.let(right, lambda b: build(parts_of(a), parts_of(b))))

    @staticmethod
    def logic(sign: str, left: Expression, right: Expression) -> Expression:
        """``and`` or ``or`` of truth values."""
        if isinstance(left, Known):
            return right if left.value == (sign == "and") else left
        if isinstance(right, Known):
            right = Constant(TRUTH, bool(right.value))
        return Logic(TRUTH, sign, left, right)

    def _boolop_expression(self, node: ast.BoolOp) -> Expression:
        return self._joined(node, self._operand)

    def _joined(self, node: ast.BoolOp, read: Callable[[ast.expr], Expression]) -> Expression:
        sign = "and" if isinstance(node.op, ast.And) else "or"
        found = read(node.values[0])
        for other in node.values[1:]:
            if isinstance(found, Known) and found.value != (sign == "and"):
                return found  # the others are not computed
            found = self.logic(sign, found, read(other))
        return found

    def _operand(self, node: ast.expr) -> Expression:
        value = self.expression(node)
        if not isinstance(value, Known) and value.type is not TRUTH:
            shown = ast.unparse(node)
            self.refuse(
                node,
                f"`and` and `or` join conditions, and this is {in_words(value.type)}: write {shown} != 0",
            )
        return self.truth(value, node)

    def _ifexp_expression(self, node: ast.IfExp) -> Expression:
        condition = self.condition(node.test)
        if isinstance(condition, Known):
            return self.expression(node.body if condition.value else node.orelse)
        yes = self.typed(self.expression(node.body), node.body)
        no = self.typed(self.expression(node.orelse), node.orelse)
        try:
            both = unify(yes.type, no.type)
        except DisagreementError:
            self.refuse(
                node,
                f"this is {in_words(yes.type)} or {in_words(no.type)}: make it the same in both branches",
            )
        return Choice(both, condition, convert(yes, both), convert(no, both))

    def _call_expression(self, node: ast.Call) -> Expression:
        return call_of(self, node)


def _type_of_field(kind: Any) -> Type:
    """The type of a field of a record, by how it was declared."""
    numbers: dict[Any, Number] = {float: REAL, int: WHOLE}
    if isinstance(kind, Rows):
        return View(numbers[kind.kind]) if kind.kind in numbers else RecordRows(kind.kind)
    return numbers[kind] if kind in numbers else Record(kind)


def _are_computable(*values: Any) -> bool:
    return all(isinstance(value, (int, float, np.number, tuple)) for value in values)
