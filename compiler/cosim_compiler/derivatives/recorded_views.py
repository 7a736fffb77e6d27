"""Recording views, records and their elements: where each begins in its root."""

from __future__ import annotations

from cosim_compiler.derivatives import rates
from cosim_compiler.derivatives.reverse_parts import Place, Rate, slope_of
from cosim_compiler.derivatives.segments import Dual, SegmentWriter
from cosim_compiler.derivatives.tangent_values import (
    NO_TANGENT,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression
from cosim_compiler.language.types import REAL, Number, Record, RecordRows, View
from cosim_compiler.record import width_of


class ViewRecorder(SegmentWriter):
    """The part of the writer of an adjoint that records views."""

    def _counted(self, index: Expression, text: str, owner: str, axis: int) -> str:
        """The place of an element: a negative index counts from the end."""
        if isinstance(index, form.Constant) and index.value >= 0:
            return str(index.value)
        return f"({text} if {text} >= 0 else {text} + {owner}.shape[{axis}])"

    def _moved(self, place: Place, by: str) -> Place:
        """A place so many numbers further."""
        if by.isdigit():
            return place.plus(int(by))
        name = self.new()
        self.emit(f"{name} = {f'{place.base} + ' if place.base else ''}{by}")
        return Place(place.root, name, place.shift)

    def _element_place(self, node: form.Element, owner: str, place: Place, texts: list[str]) -> Place:
        at = self._counted(node.indices[0], texts[0], owner, 0)
        if len(texts) == 2:
            column = self._counted(node.indices[1], texts[1], owner, 1)
            place = self._moved(place, column)
            at = "0" if at == "0" else f"{at} * {owner}.shape[1]"
        return self._moved(place, at)

    def element(self, node: form.Element) -> Dual:
        (owner, owners), *indices = self.duals([node.view, *node.indices])
        texts = [self.held(text) for text, _ in indices]
        at = ", ".join(texts)
        if not isinstance(owners, list):
            return f"{owner}[{at}]", NO_TANGENT
        owner = self.held(owner)
        place = self._element_place(node, owner, slope_of(owners), texts)
        return f"{owner}[{at}]", [Rate(f"{owners[0]}[{at}]", place)]

    def section(self, node: form.Section) -> Dual:
        ends = [end for end in (node.first, node.last) if end is not None]
        (owner, owners), *pairs = self.duals([node.view, *ends])
        texts = [self.held(text) for text, _ in pairs]
        first = texts.pop(0) if node.first is not None else ""
        last = texts.pop(0) if node.last is not None else ""
        if not isinstance(owners, list):
            return f"{owner}[{first}:{last}]", NO_TANGENT
        owner = self.held(owner)
        place: Place = slope_of(owners)
        if first:
            bound = self.writer.names.name(rates.start_of_part, "start_of_part")
            is_first = isinstance(node.first, form.Constant) and node.first.value == 0
            place = place if is_first else self._moved(place, f"{bound}({first}, len({owner}))")
        return f"{owner}[{first}:{last}]", [Rate(f"{owners[0]}[{first}:{last}]", place)]

    def row(self, node: form.Row | form.RecordAt) -> Dual:
        owner_node = node.view if isinstance(node, form.Row) else node.rows
        (owner, owners), (index, _) = self.duals([owner_node, node.index])
        at = self.held(index)
        if not isinstance(owners, list):
            return f"{owner}[{at}]", NO_TANGENT
        owner = self.held(owner)
        if isinstance(node, form.Row):
            size, by = f"{owner}.shape[1]", self._counted(node.index, at, owner, 0)
        else:
            assert isinstance(node.type, Record)
            size = str(width_of(node.type.of))
            by = str(node.index.value) if isinstance(node.index, form.Constant) else at
            if not by.isdigit():
                by = f"({at} if {at} >= 0 else {at} + len({owner}))"
        offset = str(int(by) * int(size)) if by.isdigit() and size.isdigit() else f"{by} * {size}"
        place = self._moved(slope_of(owners), offset)
        return f"{owner}[{at}]", [Rate(f"{owners[0]}[{at}]", place)]

    def field(self, node: form.Field) -> Dual:
        (text, tangents), (_, owners) = self._field_of(node)
        if not isinstance(tangents, list):
            return text, NO_TANGENT
        place: Place = slope_of(owners)
        return text, [Rate(tangents[0], place.plus(node.offset // 8))]

    def _field_of(self, node: form.Field) -> tuple[Dual, Dual]:
        owner, owners = self.dual(node.record)
        if isinstance(owners, list) and isinstance(node.type, (View, RecordRows)):
            raise self.refuse(f"{node.name} lies outside the record that varies")
        whole = isinstance(node.type, Number) and node.type is not REAL
        tangents = [f"{owners[0]}.{node.name}"] if isinstance(owners, list) and not whole else NO_TANGENT
        return (f"{owner}.{node.name}", tangents), (owner, owners)

    def rows_in(self, node: form.RowsIn) -> Dual:
        (owner, owners), (first, _), (count, _) = self.duals([node.view, node.first, node.count])
        cls = self.pure.class_of_rows(node)
        first, count = self.held(first), self.held(count)
        text = f"rows_of({cls}, {owner}, {first}, {count})"
        is_whole = isinstance(node.type, View) and node.type.item is not REAL
        if is_whole or not isinstance(owners, list):
            return text, NO_TANGENT
        place = self._moved(slope_of(owners), first)
        return text, [Rate(f"rows_of({cls}, {owners[0]}, {first}, {count})", place)]

    def as_table(self, node: form.AsTable) -> Dual:
        (owner, owners), (rows, _), (columns, _) = self.duals([node.view, node.rows, node.columns])
        rows, columns = self.held(rows), self.held(columns)
        text = f"as_table({owner}, {rows}, {columns})"
        if not isinstance(owners, list):
            return text, NO_TANGENT
        return text, [Rate(f"as_table({owners[0]}, {rows}, {columns})", slope_of(owners))]

    def zeros(self, node: form.Zeros) -> Dual:
        text = self.pure.text(node)
        shape = form.view_type(node).shape
        assert shape is not None
        size = shape[0] * (shape[1] if len(shape) == 2 else 1)
        root = f"_zeros_{len(self.local_roots)}"
        self.local_roots[root] = f"zeros({size})"
        clear = self.writer.names.name(rates.clear, "clear")
        self.segment().steps.append([f"{clear}({root})"])
        return text, [Rate(text, Place(root))]
