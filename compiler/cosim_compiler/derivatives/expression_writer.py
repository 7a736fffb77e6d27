"""Writing the values and the tangents of expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cosim_compiler.derivatives import operator_rates, rates
from cosim_compiler.derivatives.call_writer import CallWriter
from cosim_compiler.derivatives.jumps import ROUNDING_RULES, JumpWriter, is_rounding
from cosim_compiler.derivatives.tangent_values import (
    NO_TANGENT,
    Dual,
    Tangents,
    each,
    leaves,
    tangents_of_names,
    varies,
    varying_of,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, is_pure
from cosim_compiler.language.types import REAL, WHOLE, Number, RecordRows, Tuple, View

KINKED = {"fabs": "abs()", "min": "min()", "max": "max()", "copysign": "copysign()"}
"""Functions with a kink, as authors call them."""


class ExpressionWriter(JumpWriter, CallWriter):
    """The part of the writer of a function that writes expressions; see `function_writer.FunctionWriter`."""

    def condition(self, node: Expression) -> str:
        """The text of the condition of a block, written when all statements before the block are."""
        return self.value(node)

    def flush(self) -> None:
        """End a run of statements without a branch: nothing to do here, but in `SegmentWriter`."""

    def set_name(self, name: str, value: Expression) -> None:
        """Give a local name a value."""
        text, tangents = self.dual(value)
        varying = self.grow(name, varying_of(tangents), value.type)
        self.set_tangents(name, varying, tangents, value.type)
        self.emit(f"{self.identifier(name)} = {text}")

    def value(self, node: Expression) -> str:
        """The value of an expression whose tangent does not count."""
        if not self.is_plain(node):
            return self.dual(node)[0]
        self.add_notes(node)
        return self.pure.text(node)

    def atom(self, node: Expression) -> str:
        """The text of a value, short enough to be written several times."""
        return self.held(self.value(node))

    def duals(self, nodes: Sequence[Expression]) -> list[Dual]:
        """Several expressions, computed one after the other."""
        pairs: list[Dual] = []
        for i, node in enumerate(nodes):
            text, tangents = self.dual(node)
            if any(not is_pure(later) for later in nodes[i + 1 :]):
                text, tangents = self.held(text), self.held_tangents(tangents)
            pairs.append((text, tangents))
        return pairs

    def dual(self, node: Expression) -> Dual:
        """The value and the tangents of an expression."""
        follow = EXPRESSIONS.get(type(node))
        if follow is None:
            raise self.refuse(f"{_in_words(node)} is not differentiated")
        if isinstance(node.type, Number) and node.type is not REAL and self.is_plain(node):
            self.add_notes(node)
            return self.pure.text(node), NO_TANGENT
        dual: Dual = getattr(self, follow.__name__)(node)
        return dual

    def constant(self, node: Any) -> Dual:
        return self.pure.text(node), NO_TANGENT

    def variable(self, node: form.Variable) -> Dual:
        varying = self.varying.get(node.name, False)
        names = dict(
            zip([p for p, on in leaves(varying) if on], self.leaf_names(node.name, varying), strict=True)
        )
        return self.identifier(node.name), tangents_of_names(varying, names)

    def element(self, node: form.Element) -> Dual:
        (view, tangents), *indices = self.duals([node.view, *node.indices])
        at = ", ".join(self.held(text) for text, _ in indices)
        return f"{view}[{at}]", each(tangents, lambda x: f"{x}[{at}]")

    def length(self, node: form.Length) -> Dual:
        view, _ = self.dual(node.view)
        return (f"{view}.shape[{node.axis}]" if node.axis else f"len({view})"), NO_TANGENT

    def section(self, node: form.Section) -> Dual:
        ends = [end for end in (node.first, node.last) if end is not None]
        (view, tangents), *pairs = self.duals([node.view, *ends])
        texts = [self.held(text) for text, _ in pairs]
        first = texts.pop(0) if node.first is not None else ""
        last = texts.pop(0) if node.last is not None else ""
        return f"{view}[{first}:{last}]", each(tangents, lambda x: f"{x}[{first}:{last}]")

    def row(self, node: form.Row | form.RecordAt) -> Dual:
        rows_node = node.view if isinstance(node, form.Row) else node.rows
        (rows, tangents), (index, _) = self.duals([rows_node, node.index])
        at = self.held(index)
        return f"{rows}[{at}]", each(tangents, lambda x: f"{x}[{at}]")

    def field(self, node: form.Field) -> Dual:
        record, tangents = self.dual(node.record)
        if isinstance(tangents, list) and isinstance(node.type, (View, RecordRows)):
            raise self.refuse(f"{node.name} lies outside the record that varies")
        text = f"{record}.{node.name}"
        if isinstance(node.type, Number) and node.type is not REAL:
            return text, NO_TANGENT
        return text, each(tangents, lambda x: f"{x}.{node.name}")

    def rows_in(self, node: form.RowsIn) -> Dual:
        (view, tangents), (first, _), (count, _) = self.duals([node.view, node.first, node.count])
        cls = self.pure.class_of_rows(node)
        first, count = self.held(first), self.held(count)
        text = f"rows_of({cls}, {view}, {first}, {count})"
        if isinstance(node.type, View) and node.type.item is not REAL:
            return text, NO_TANGENT
        return text, each(tangents, lambda x: f"rows_of({cls}, {x}, {first}, {count})")

    def as_table(self, node: form.AsTable) -> Dual:
        (view, tangents), (rows, _), (columns, _) = self.duals([node.view, node.rows, node.columns])
        rows, columns = self.held(rows), self.held(columns)
        text = f"as_table({view}, {rows}, {columns})"
        return text, each(tangents, lambda x: f"as_table({x}, {rows}, {columns})")

    def zeros(self, node: form.Zeros) -> Dual:
        text = self.pure.text(node)
        tangent, lanes = text, self.writer.lanes
        if lanes > 0:
            tangent = f"{text.replace('zeros(', 'zeros_in_lanes(', 1).removesuffix(')')}, {lanes})"
        return text, [tangent] * self.writer.directions

    def make_tuple(self, node: form.MakeTuple) -> Dual:
        pairs = self.duals(node.items)
        tangents = tuple(tangent for _, tangent in pairs)
        return self.pure.tuple_text(node, [text for text, _ in pairs]), tangents

    def item(self, node: form.Item) -> Dual:
        items, tangents = self.dual(node.tuple)
        text = f"{self.held(items)}[{node.index}]"
        return text, tangents[node.index] if isinstance(tangents, tuple) else NO_TANGENT

    def pick(self, node: form.Pick) -> Dual:
        (items, item_tangents), (index, _) = self.duals([node.tuple, node.index])
        at = self.held(index)
        tangents = self._picked(item_tangents, at) if isinstance(item_tangents, tuple) else NO_TANGENT
        return f"{self.held(items)}[{at}]", tangents

    def _picked(self, items: tuple[Tangents, ...], at: str) -> Tangents:
        """The tangents of the item at an index that is computed."""
        if all(item is None for item in items):
            return NO_TANGENT
        if any(isinstance(item, tuple) for item in items):
            width = max(len(item) for item in items if isinstance(item, tuple))
            tuples = [item if isinstance(item, tuple) else (None,) * width for item in items]
            return tuple(self._picked(tuple(parts[i] for parts in tuples), at) for i in range(width))
        n = self.writer.directions
        tangents = [item if isinstance(item, list) else ["0.0"] * n for item in items]
        return [f"({', '.join(texts[k] for texts in tangents)},)[{at}]" for k in range(n)]

    def choice(self, node: form.Choice) -> Dual:
        """A choice, written as an ``if``, since each branch may need statements of its own."""
        condition = self.condition(node.condition)
        self._choices += 1
        name = f"choice.{self._choices}"
        varying = self.varying.get(name, False)
        for head, branch in ((f"if {condition}:", node.yes), ("else:", node.no)):
            self.emit(head)
            with self.indented():
                text, tangents = self.dual(branch)
                varying = self.grow(name, varying_of(tangents), node.type)
                self.set_tangents(name, varying, tangents, node.type)
                self.emit(f"{self.identifier(name)} = {text}")
        return self.variable(form.Variable(node.type, name))

    def let(self, node: form.Let) -> Dual:
        self.set_name(node.name, node.value)
        return self.dual(node.body)

    def logic(self, node: form.Logic) -> Dual:
        name = self.new()
        self.emit(f"{name} = {self.value(node.left)}")
        self.flush()
        self.emit(f"if {'' if node.operator == 'and' else 'not '}{name}:")
        with self.indented():
            self.emit(f"{name} = {self.value(node.right)}")
        return name, NO_TANGENT

    def compare(self, node: form.Compare) -> Dual:
        """A comparison, which has no tangent; one by ``==`` or ``!=`` is written with the tangents."""
        duals = self.duals([node.left, node.right])
        if any(varies(tangents) for _, tangents in duals):
            if self.is_equality(node):
                return self._equality(node, duals), NO_TANGENT
            self.note_decision(node)
            if self.writer.refuses_jumps:
                duals = [(self.held(value), self.held_tangents(tangents)) for value, tangents in duals]
                self.refuse_jumps(rates.refuse_decision, *duals)
        (left, _), (right, _) = duals
        return f"({left} {node.operator} {right})", NO_TANGENT

    def _equality(self, node: form.Compare, duals: Sequence[Dual]) -> str:
        """The text of ``==`` or ``!=``: equal numbers that move apart count as different."""
        self.note(
            f"`{node.operator}` decides by what varies: where both sides are equal and move apart, "
            "the tangent is that of different numbers"
        )
        (left, left_tangents), (right, right_tangents) = [
            (self.held(value), self.held_tangents(tangents)) for value, tangents in duals
        ]
        zeros = ["0.0"] * self.writer.directions
        pairs = zip(
            left_tangents if isinstance(left_tangents, list) else zeros,
            right_tangents if isinstance(right_tangents, list) else zeros,
            strict=True,
        )
        word = "and" if node.operator == "==" else "or"
        compared = "".join(f" {word} {x} {node.operator} {y}" for x, y in pairs if x != y)
        agreed = "agreed" if self.writer.lanes > 0 else ""
        return f"{agreed}({left} {node.operator} {right}{compared})"

    def convert(self, node: form.Convert) -> Dual:
        if isinstance(node.type, Tuple):
            text, tangents = self.dual(node.operand)
            return self.pure.converted_tuple(self.held(text), node.operand.type, node.type), tangents
        text, tangents = self.dual(node.operand)
        if is_rounding(node) and node.type is WHOLE and self.writer.refuses_jumps:
            text, tangents = self.held(text), self.held_tangents(tangents)
            self.refuse_jumps(rates.refuse_jump_beside_zero, (text, tangents))
        is_linear = (node.operand.type is REAL and node.type is REAL) or isinstance(node.type, View)
        return self.pure.converted(text, node.operand, node.type), tangents if is_linear else NO_TANGENT

    def unary(self, node: form.Unary) -> Dual:
        text, tangents = self.dual(node.operand)
        space = " " if node.operator == "not" else ""
        value = f"({node.operator}{space}{text})"
        return value, each(tangents, lambda x: f"(-{x})") if node.type is REAL else NO_TANGENT

    def binary(self, node: form.Binary) -> Dual:
        pairs = self.duals([node.left, node.right])
        if node.type is not REAL or not any(varies(t) for _, t in pairs):
            (left, _), (right, _) = pairs
            return f"({left} {node.operator} {right})", NO_TANGENT
        (left, lefts), (right, rights) = [(self.held(v), self.held_tangents(t)) for v, t in pairs]
        value = f"({left} {node.operator} {right})"
        if node.operator == "/":
            value = self.held(value)
        elif node.operator in ("//", "%"):
            self.note(f"`{node.operator}` jumps: the tangent is that between two jumps")
            self.refuse_jumps(rates.refuse_jump_of_quotient, (left, lefts), (right, rights))
        return value, operator_rates.operator_tangents(
            self, node.operator, value, (left, lefts), (right, rights)
        )

    def mathematics(self, node: form.Mathematics) -> Dual:
        pairs = self.duals(node.arguments)
        kind = node.type
        if not any(varies(t) for _, t in pairs) or (isinstance(kind, Number) and kind is not REAL):
            return self.pure.mathematics_text(node, [text for text, _ in pairs]), NO_TANGENT
        pairs = [(self.held(v), self.held_tangents(t)) for v, t in pairs]
        value = self.held(self.pure.mathematics_text(node, [text for text, _ in pairs]))
        if node.name in KINKED:
            self.note(f"{KINKED[node.name]} has a kink: there the tangent is the mean of both sides")
        elif node.name == "fmod":
            self.note("fmod() jumps: the tangent is that between two jumps")
        if node.name in ROUNDING_RULES:
            self.refuse_jumps(ROUNDING_RULES[node.name], *pairs)
        return value, operator_rates.function_tangents(self, node.name, value, pairs)


def _in_words(node: Expression) -> str:
    words = {form.CallAddress: "code at an address", form.CallLinked: "code that is compiled by itself"}
    return words.get(type(node), type(node).__name__)


EXPRESSIONS: dict[type, Callable[[ExpressionWriter, Any], Dual]] = {
    form.Constant: ExpressionWriter.constant,
    form.ConstantView: ExpressionWriter.constant,
    form.Variable: ExpressionWriter.variable,
    form.Element: ExpressionWriter.element,
    form.Length: ExpressionWriter.length,
    form.Section: ExpressionWriter.section,
    form.Row: ExpressionWriter.row,
    form.RecordAt: ExpressionWriter.row,
    form.Field: ExpressionWriter.field,
    form.RowsIn: ExpressionWriter.rows_in,
    form.AsTable: ExpressionWriter.as_table,
    form.Zeros: ExpressionWriter.zeros,
    form.MakeTuple: ExpressionWriter.make_tuple,
    form.Item: ExpressionWriter.item,
    form.Pick: ExpressionWriter.pick,
    form.Unary: ExpressionWriter.unary,
    form.Binary: ExpressionWriter.binary,
    form.Compare: ExpressionWriter.compare,
    form.Logic: ExpressionWriter.logic,
    form.Choice: ExpressionWriter.choice,
    form.Convert: ExpressionWriter.convert,
    form.Let: ExpressionWriter.let,
    form.Mathematics: ExpressionWriter.mathematics,
    form.Call: ExpressionWriter.call,
}
