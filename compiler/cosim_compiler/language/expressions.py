"""Reading names, tuples, elements and fields: from Python's syntax tree to the typed form."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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


class CaughtException(NamedTuple):
    """An exception inside the `except` that has caught it.

    Attributes
    ----------
    name : str or None
        The author's name for it.
    number : str
        The variable that holds its number.
    """

    name: str | None
    number: str


class ExpressionReader(OperatorReader):
    """The part of the reader that reads expressions; see `function_reader.Reader`.

    Attributes
    ----------
    caught : list of CaughtException
        Those of the handlers around the present expression.
    """

    caught: list[CaughtException]

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
        """An attribute of a value of Python, a group, a record, a named tuple, a view, a caught exception."""
        if isinstance(node.value, ast.Name) and node.attr == "number":
            for exception in reversed(self.caught):
                if exception.name == node.value.id:
                    return Variable(WHOLE, exception.number)
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
        size = _size_attribute(value, node.attr) if isinstance(value.type, View) else None
        if size is None:
            self.refuse(node, f"{in_words(value.type)} has no '{node.attr}'")
        return size

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
        starred: list[tuple[str, Expression]] = []  # tuples that get a name, so that they are computed once
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
                name = self.new_name(value.type)
                starred.append((name, value))
                value = Variable(value.type, name)
            items += parts_of(value)
        built = build(items)
        for name, value in reversed(starred):
            built = Let(built.type, name, value, built)
        return built

    # elements

    def _subscript_expression(self, node: ast.Subscript) -> Expression:
        """An element, a section or a row of a tuple, a view, or rows of records."""
        value = self.expression(node.value)
        if isinstance(value, Known) and not isinstance(value.value, np.ndarray):
            known_index = self._known_index(node.slice)
            if known_index is not None and isinstance(value.value, tuple):
                return self._known_item(value.value, known_index, node)
        value = self.typed(value, node.value)
        if isinstance(value.type, View):
            return self._subscript_of_view(value, node)
        if isinstance(value.type, RecordRows) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return RecordAt(_record_in(value.type), value, self._index(node.slice))
        if not isinstance(value.type, Tuple):
            self.refuse(node, f"[…] is asked of {in_words(value.type)}, which has no elements")
        if isinstance(node.slice, ast.Slice):
            return self._part_of_tuple(value, node)
        index = self.typed(self.expression(node.slice), node.slice)
        if isinstance(index, Constant) and index.type is WHOLE:
            if not -len(value.type.items) <= index.value < len(value.type.items):
                self.refuse(node, f"the tuple has {len(value.type.items)} items")
            return self._item(value, index.value % len(value.type.items))
        return self._pick(value, self._index(node.slice), node)

    def _known_index(self, node: ast.expr) -> Any:
        """The value of an index or a slice; None if Python does not know it."""
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

    def _part_of_tuple(self, value: Expression, node: ast.Subscript) -> Expression:
        """Some items of a tuple, as a tuple."""
        known_slice = self._known_index(node.slice)
        if known_slice is None:
            self.refuse(node, "the part of a tuple has constant places: write v[0:3]")
        return self.evaluate_once(value, lambda held: make_tuple(parts_of(held)[known_slice]))

    def _pick(self, value: Expression, index: Expression, node: ast.AST) -> Expression:
        """An item of a tuple at an index that is computed; all items become one type."""
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
        """An index that is computed: a whole number."""
        value = self.typed(self.expression(node), node)
        if value.type not in (WHOLE, TRUTH):
            self.refuse(node, f"the place [{in_words(value.type)}] is not a whole number: write int(…)")
        return convert(value, WHOLE)

    def _subscript_of_view(self, value: Expression, node: ast.Subscript) -> Expression:
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
        """The element or the field to which an assignment writes."""
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
        """An element of a view, with as many indices as the view has axes."""
        assert isinstance(view.type, View)
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(nodes) != view.type.axes:
            self.refuse(
                node, f"{in_words(view.type)} has {view.type.axes} indices, and is given {len(nodes)}"
            )
        return Element(view.type.item, view, tuple(map(self._index, nodes)))

    def item_at(self, value: Expression, index: Expression, node: ast.AST) -> Expression:
        """What a loop over a view, a tuple or rows of records assigns in the turn with this index."""
        if isinstance(value.type, Tuple):
            return self._pick(value, index, node)
        if isinstance(value.type, RecordRows):
            return RecordAt(_record_in(value.type), value, index)
        assert isinstance(value.type, View)
        return Element(value.type.item, value, (index,))

    def _call_expression(self, node: ast.Call) -> Expression:
        return call_of(self, node)


def _size_attribute(view: Expression, name: str) -> Expression | None:
    """The attribute of a view that says how large it is; None if it has no such attribute."""
    assert isinstance(view.type, View)
    if name == "ndim":
        return known(view.type.axes)
    if name == "shape" and view.type.shape is not None:
        return known(view.type.shape)
    lengths: list[Expression] = [Length(WHOLE, view, axis) for axis in range(view.type.axes)]
    if name == "shape":
        return make_tuple(lengths)
    return functools.reduce(lambda a, b: Binary(WHOLE, "*", a, b), lengths) if name == "size" else None


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
    """The type of a field of a record, from its declaration."""
    numbers: dict[Any, Number] = {float: REAL, int: WHOLE}
    if isinstance(kind, Rows):
        return View(numbers[kind.kind]) if kind.kind in numbers else RecordRows(kind.kind)
    return numbers[kind] if kind in numbers else Record(kind)
