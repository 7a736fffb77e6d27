"""Recording views, records and their elements: the place in its root at which each begins.

Each method takes an expression. It returns the text of its value in the recording function, and its `Rate`:
the text of its tangent, with the place of its adjoint. A view and the view of its tangents, ``tangents[0]``,
are read at the same indices.
"""

from __future__ import annotations

from cosim_compiler.derivatives import rates
from cosim_compiler.derivatives.reverse_parts import Place, Rate, slope_of
from cosim_compiler.derivatives.segments import SegmentWriter
from cosim_compiler.derivatives.tangent_values import NO_TANGENT, Dual
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression
from cosim_compiler.language.types import REAL, Number, Record, RecordRows, View
from cosim_compiler.record import width_of

BYTES_PER_NUMBER = 8
"""Offsets of fields are bytes, places in a root are numbers."""


class ViewRecorder(SegmentWriter):
    """The part of the writer of an adjoint that records views."""

    def _from_start(self, index: Expression, text: str, length: str) -> str:
        """The text of an index as counted from the start, while a negative one counts from the end."""
        if isinstance(index, form.Constant) and index.value >= 0:
            return str(index.value)
        return f"({text} if {text} >= 0 else {text} + {length})"

    def _moved(self, place: Place, distance: str) -> Place:
        """The place that lies `distance`, the text of a number, behind another."""
        if distance.isdigit():
            return place.plus(int(distance))
        name = self.new()
        self.emit(f"{name} = {f'{place.base} + ' if place.base else ''}{distance}")
        return Place(place.root, name, place.shift)

    def _element_place(self, node: form.Element, view: str, place: Place, indices: list[str]) -> Place:
        """The place of an element of a view that begins at a place; a table lies row by row."""
        first = self._from_start(node.indices[0], indices[0], f"{view}.shape[0]")
        if len(indices) == 2:
            column = self._from_start(node.indices[1], indices[1], f"{view}.shape[1]")
            place = self._moved(place, column)
            first = "0" if first == "0" else f"{first} * {view}.shape[1]"
        return self._moved(place, first)

    def element(self, node: form.Element) -> Dual:
        """An element of a view."""
        (view, tangents), *pairs = self.duals([node.view, *node.indices])
        indices = [self.held(text) for text, _ in pairs]
        at = ", ".join(indices)
        if not isinstance(tangents, list):
            return f"{view}[{at}]", NO_TANGENT
        view = self.held(view)
        place = self._element_place(node, view, slope_of(tangents), indices)
        return f"{view}[{at}]", [Rate(f"{tangents[0]}[{at}]", place)]

    def section(self, node: form.Section) -> Dual:
        """A part of a view, from one index to another; either may be left out."""
        ends = [end for end in (node.first, node.last) if end is not None]
        (view, tangents), *pairs = self.duals([node.view, *ends])
        texts = [self.held(text) for text, _ in pairs]
        first = texts.pop(0) if node.first is not None else ""
        last = texts.pop(0) if node.last is not None else ""
        if not isinstance(tangents, list):
            return f"{view}[{first}:{last}]", NO_TANGENT
        view = self.held(view)
        place: Place = slope_of(tangents)
        if first:
            start_of_part = self.writer.names.name(rates.start_of_part, "start_of_part")
            is_from_start = isinstance(node.first, form.Constant) and node.first.value == 0
            if not is_from_start:
                place = self._moved(place, f"{start_of_part}({first}, len({view}))")
        return f"{view}[{first}:{last}]", [Rate(f"{tangents[0]}[{first}:{last}]", place)]

    def row(self, node: form.Row | form.RecordAt) -> Dual:
        """A row of a table, or one of several records: both lie one behind the other."""
        rows_node = node.view if isinstance(node, form.Row) else node.rows
        (rows, tangents), (index, _) = self.duals([rows_node, node.index])
        at = self.held(index)
        if not isinstance(tangents, list):
            return f"{rows}[{at}]", NO_TANGENT
        rows = self.held(rows)
        if isinstance(node, form.Row):
            length, size = f"{rows}.shape[0]", f"{rows}.shape[1]"
        else:
            assert isinstance(node.type, Record)
            length, size = f"len({rows})", str(width_of(node.type.of))
        number = self._from_start(node.index, at, length)
        is_constant = number.isdigit() and size.isdigit()
        offset = str(int(number) * int(size)) if is_constant else f"{number} * {size}"
        place = self._moved(slope_of(tangents), offset)
        return f"{rows}[{at}]", [Rate(f"{tangents[0]}[{at}]", place)]

    def field(self, node: form.Field) -> Dual:
        """A field of a record; whole numbers have no tangents, and a field may not lead out of the record."""
        record, tangents = self.dual(node.record)
        text = f"{record}.{node.name}"
        if not isinstance(tangents, list):
            return text, NO_TANGENT
        if isinstance(node.type, (View, RecordRows)):
            raise self.refuse(f"{node.name} lies outside the record that varies")
        if isinstance(node.type, Number) and node.type is not REAL:
            return text, NO_TANGENT
        place: Place = slope_of(tangents)
        return text, [Rate(f"{tangents[0]}.{node.name}", place.plus(node.offset // BYTES_PER_NUMBER))]

    def rows_in(self, node: form.RowsIn) -> Dual:
        """Records, or a view, that lie in a view of reals from an index on."""
        (view, tangents), (first, _), (count, _) = self.duals([node.view, node.first, node.count])
        cls = self.pure.class_of_rows(node)
        first, count = self.held(first), self.held(count)
        text = f"rows_of({cls}, {view}, {first}, {count})"
        is_whole = isinstance(node.type, View) and node.type.item is not REAL
        if is_whole or not isinstance(tangents, list):
            return text, NO_TANGENT
        place = self._moved(slope_of(tangents), first)
        return text, [Rate(f"rows_of({cls}, {tangents[0]}, {first}, {count})", place)]

    def as_table(self, node: form.AsTable) -> Dual:
        """A view as a table: it begins at the same place."""
        (view, tangents), (rows, _), (columns, _) = self.duals([node.view, node.rows, node.columns])
        rows, columns = self.held(rows), self.held(columns)
        text = f"as_table({view}, {rows}, {columns})"
        if not isinstance(tangents, list):
            return text, NO_TANGENT
        return text, [Rate(f"as_table({tangents[0]}, {rows}, {columns})", slope_of(tangents))]

    def zeros(self, node: form.Zeros) -> Dual:
        """A new array: it has a root of its own, which is cleared where the array was made."""
        text = self.pure.text(node)
        shape = form.view_type(node).shape
        assert shape is not None
        size = shape[0] * (shape[1] if len(shape) == 2 else 1)
        root = f"_zeros_{len(self.local_roots)}"
        self.local_roots[root] = f"zeros({size})"
        clear = self.writer.names.name(rates.clear, "clear")
        self.segment().steps.append([f"{clear}({root})"])
        return text, [Rate(text, Place(root))]
