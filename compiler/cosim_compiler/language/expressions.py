"""Reading names, tuples, elements and fields: from Python's syntax tree to the typed form."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cosim_compiler.language.calls import call_of
from cosim_compiler.language.constants import NoLanesError, convert, known, make_tuple, parts_of
from cosim_compiler.language.helper_calls import call_of_function
from cosim_compiler.language.operators import OperatorReader
from cosim_compiler.language.typed_form import (
    Binary,
    Constant,
    Element,
    Expression,
    Field,
    Item,
    Known,
    Length,
    Let,
    Member,
    Pick,
    RecordAt,
    Row,
    Section,
    Variable,
    is_pure,
)
from cosim_compiler.language.types import (
    LANES,
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
    class_of,
    in_words,
    is_number,
    unify_all,
)
from cosim_compiler.nearest import nearest
from cosim_compiler.record import Rows, computed_property, layout_of


class ExpressionReader(OperatorReader):
    """The part of the reader that reads expressions; see `function_reader.Reader`."""

    caught: list[tuple[str | None, str]]

    # names and constants

    def _constant_expression(self, node: ast.Constant) -> Expression:
        return known(node.value)

    def _name_expression(self, node: ast.Name) -> Expression:
        return self.name(node)

    def name(self, node: ast.Name) -> Expression:
        """The value or the variable of a name."""
        if node.id in self.lifetimes.local:
            name = self.lifetimes.read[id(node)]
            return Variable(self.variables[name], name)
        if node.id in self.environment:
            return known(self.environment[node.id])
        if hasattr(builtins, node.id):
            return known(getattr(builtins, node.id))
        self.refuse(node, f"'{node.id}' is not defined")

    def _attribute_expression(self, node: ast.Attribute) -> Expression:
        """An attribute: of a value of Python, a group, a record, or what is caught."""
        if isinstance(node.value, ast.Name) and node.attr == "number":
            for name, held in reversed(self.caught):
                if name == node.value.id:
                    return Variable(WHOLE, held)
        value = self.expression(node.value)
        if isinstance(value, Known):
            if not hasattr(value.value, node.attr):
                self.refuse(node, f"there is no '{node.attr}'")
            return known(getattr(value.value, node.attr))
        if isinstance(value.type, Group) and node.attr in value.type.of._fields:  # type: ignore[attr-defined]
            index, view = value.type.member(node.attr)
            return Member(view, value, index, node.attr)
        computed = computed_property(class_of(value.type), node.attr)
        if computed is not None:
            return call_of_function(self, computed, [value], node)
        if isinstance(value.type, Record):
            return self.field(value, node)
        fields = getattr(value.type.of, "_fields", ()) if isinstance(value.type, Tuple) else ()
        if node.attr in fields:
            return self._item(value, fields.index(node.attr))
        if isinstance(value.type, View) and node.attr == "ndim":
            return known(value.type.axes)
        if isinstance(value.type, View) and node.attr == "shape":
            if value.type.shape is not None:
                return known(value.type.shape)
            return make_tuple([Length(WHOLE, value, axis) for axis in range(value.type.axes)])
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
            hint = f"; nearest: '{near}'" if near else ""
            self.refuse(node, f"{record.type.of.__name__} has no field '{node.attr}'{hint}")
        offset, kind = layout[node.attr]
        type_ = _type_of_field(kind)
        lanes = record.type.lanes
        if lanes > 1:
            type_, offset = _type_in_lanes(type_, lanes), lanes * offset
        return Field(type_, record, node.attr, offset)

    def _tuple_expression(self, node: ast.Tuple) -> Expression:
        def build(items: list[Expression]) -> Expression:
            if all(isinstance(item, Known) for item in items):
                return known(tuple(item.value for item in items if isinstance(item, Known)))
            return make_tuple([self.typed(item, node) for item in items])

        return self.with_items(node.elts, build)

    def with_items(
        self, nodes: Sequence[ast.expr], build: Callable[[list[Expression]], Expression]
    ) -> Expression:
        """Build an expression from several others; ``*x`` stands for the items of a tuple."""
        items: list[Expression] = []
        named: list[tuple[str, Expression]] = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                items.append(self.expression(node))
                continue
            value = self.expression(node.value)
            if isinstance(value, Known) and isinstance(value.value, tuple):
                items += map(known, value.value)
                continue
            value = self.typed(value, node)
            if not isinstance(value.type, Tuple):
                self.refuse(node, f"* is for tuples, and this is {in_words(value.type)}")
            if not is_pure(value):
                named.append((self.new_name(value.type), value))
                value = Variable(value.type, named[-1][0])
            items += parts_of(value)
        built = build(items)
        for name, value in reversed(named):
            built = Let(built.type, name, value, built)
        return built

    # elements

    def _subscript_expression(self, node: ast.Subscript) -> Expression:
        """An element, a section or a row of a tuple, a view, or rows of records."""
        value = self.expression(node.value)
        if isinstance(value, Known) and not isinstance(value.value, np.ndarray):
            index = self._known_index(node.slice)
            if index is not None and isinstance(value.value, tuple):
                return self._known_item(value.value, index, node)
        value = self.typed(value, node.value)
        if isinstance(value.type, View):
            return self._of_view(value, node)
        if isinstance(value.type, RecordRows) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return RecordAt(_record_in(value.type), value, self._index(node.slice))
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
            self.refuse(node.slice, f"the place [{index!r}] is not a whole number: write int(…)")

    @staticmethod
    def _item(value: Expression, index: int) -> Expression:
        assert isinstance(value.type, Tuple)
        return parts_of(value)[index] if is_pure(value) else Item(value.type.items[index], value, index)

    def _part(self, value: Expression, node: ast.Subscript) -> Expression:
        """Some items of a tuple."""
        index = self._known_index(node.slice)
        if index is None:
            self.refuse(node, "the part of a tuple has constant places: write v[0:3]")
        return self.evaluate_once(value, lambda held: make_tuple(parts_of(held)[index]))

    def _pick(self, value: Expression, index: Expression, node: ast.AST) -> Expression:
        """An item of a tuple at a place that is computed; all items become one type."""
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
            self.refuse(node, f"the place [{in_words(value.type)}] is not a whole number: write int(…)")
        return convert(value, WHOLE)

    def _of_view(self, value: Expression, node: ast.Subscript) -> Expression:
        """An element, a section or a row of a view."""
        assert isinstance(value.type, View)
        if isinstance(node.slice, ast.Slice):
            if node.slice.step is not None:
                self.refuse(
                    node,
                    "a view is contiguous, and its parts have no step: write x[first:last], or x[2 * i]",
                )
            if value.type.axes != 1:
                self.refuse(node, "write the row of a table, m[i], or an element, m[i, j]")
            first = None if node.slice.lower is None else self._index(node.slice.lower)
            last = None if node.slice.upper is None else self._index(node.slice.upper)
            return Section(value.type.of_any_shape, value, first, last)
        if value.type.axes == 2 and not isinstance(node.slice, ast.Tuple):
            columns = None if value.type.shape is None else value.type.shape[1:]
            return Row(View(value.type.item, 1, columns), value, self._index(node.slice))
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
            return RecordAt(_record_in(value.type), value, index)
        assert isinstance(value.type, View)
        return Element(value.type.item, value, (index,))

    def _call_expression(self, node: ast.Call) -> Expression:
        return call_of(self, node)


def _record_in(rows: RecordRows) -> Record:
    """The type of a record among several."""
    return Record(rows.of, rows.lanes)


def _type_in_lanes(type_: Type, lanes: int) -> Type:
    """The type of a field of a record whose numbers are one for each lane."""
    if isinstance(type_, Record):
        return Record(type_.of, lanes)
    if type_ is not REAL:
        raise NoLanesError(f"a field is {in_words(type_)}, not {in_words(LANES[lanes])}")
    return LANES[lanes]


def _type_of_field(kind: Any) -> Type:
    """The type of a field of a record, by how it was declared."""
    numbers: dict[Any, Number] = {float: REAL, int: WHOLE}
    if isinstance(kind, Rows):
        return View(numbers[kind.kind]) if kind.kind in numbers else RecordRows(kind.kind)
    return numbers[kind] if kind in numbers else Record(kind)
