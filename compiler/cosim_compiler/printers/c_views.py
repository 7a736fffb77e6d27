"""Views and groups of views as C: their elements, parts and records, and memory for new ones."""

from __future__ import annotations

import math

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import view_type
from cosim_compiler.language.types import COLUMNS_IN_GROUP, REAL, Group, Record, RecordRows
from cosim_compiler.printers.c_names import NUMBERS, real, whole
from cosim_compiler.printers.c_order import OrderedWriter

LENGTHS = "nm"
"""The members of a view in C that hold its lengths, by axis."""


class ViewWriter(OrderedWriter):
    """Writes expressions of views and groups: a method for each class of `typed_form`, named after it.

    In C a view is a structure: `at` is the address of its first number, `n` the number of its elements or
    rows, and `m`, of a matrix, the number of its columns (`c99`).
    """

    def _element(self, node: form.Element) -> str:
        view, *indices = self.in_order([node.view, *node.indices])
        if not isinstance(node.view, (form.Variable, form.Member)) and not self.is_short(node.view, view):
            view = self.named(node.view.type, view)
        flat = ""
        for axis, (index, text) in enumerate(zip(node.indices, indices, strict=True)):
            at = text
            if not self.declares.is_nonnegative(index):
                at = f"from_end({text}, {view}.{LENGTHS[axis]})"
            flat = f"{flat} * {view}.m + {at}" if axis else at  # rows one after the other
        return f"{view}.at[{flat}]"

    def _field(self, node: form.Field) -> str:
        record = self.of(node.record)
        # ``(&place)->name`` is ``place.name``
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
        return f"{self.of(node.view)}.{LENGTHS[node.axis]}"

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
