"""Writing the values and the tangents of expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cosim_compiler.derivatives import operator_rates, rates
from cosim_compiler.derivatives.call_writer import CallWriter
from cosim_compiler.derivatives.tangent_values import (
    NO_TANGENT,
    Tangents,
    each,
    leaves,
    tangents_of_names,
    varies,
    varies_any,
    varying_of,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Statement, is_pure, walk
from cosim_compiler.language.types import REAL, WHOLE, Number, RecordRows, Tuple, View

KINKED = {"fabs": "abs()", "min": "min()", "max": "max()", "copysign": "copysign()"}
REFUSED_ROUNDING = {
    "floor": rates.refuse_jump,
    "ceil": rates.refuse_jump,
    "trunc": rates.refuse_jump_beside_zero,
    "rint": rates.refuse_jump_at_half,
    "fmod": rates.refuse_jump_of_quotient,
}
"""What raises where a function jumps."""


class ExpressionWriter(CallWriter):
    """The part of the writer of a function that writes expressions; see `function_writer.FunctionWriter`."""

    def condition(self, node: Expression) -> str:
        """The text of what decides about a block; all that stands before the block is written then."""
        return self.value(node)

    def flush(self) -> None:
        """Write what waits for the end of statements without a branch: nothing here, see `SegmentWriter`."""

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
        self._add_notes(node)
        return self.pure.text(node)

    def is_plain(self, node: Expression) -> bool:
        """Whether an expression whose tangent does not count is written as it stands."""
        return self.is_same_at_points(node) and not any(map(self._is_refused, walk(node)))

    def is_same_at_points(self, node: Expression) -> bool:
        """Whether an expression is pure and counts at single points as it does beside them."""
        return is_pure(node) and not any(map(self._is_equality, walk(node)))

    def _is_refused(self, node: Any) -> bool:
        """Whether the tangent raises where an expression jumps."""
        jumps = (
            (isinstance(node, form.Compare) and node.left.type is REAL)
            or _is_rounding(node)
            or (isinstance(node, form.Mathematics) and node.name in REFUSED_ROUNDING)
            or (isinstance(node, form.Binary) and node.type is REAL and node.operator in ("//", "%"))
        )
        return bool(self.writer.refuses_jumps and jumps and self._may_vary(node))

    def _refuse_jumps(self, rule: Any, *operands: tuple[str, Tangents]) -> None:
        """Write what raises where an operation on these values jumps, unless none of them varies."""
        if not self.writer.refuses_jumps or not any(varies(tangents) for _, tangents in operands):
            return
        name = self.writer.names.name(rule, rule.__name__)
        values = [text for text, _ in operands]
        for k in range(self.writer.directions):
            dots = [tangents[k] if isinstance(tangents, list) else "0.0" for _, tangents in operands]
            self.emit(f"{name}({', '.join([*values, *dots])})")

    def _is_equality(self, node: Any) -> bool:
        """Whether two numbers that vary are compared for being the same: they are at points alone."""
        compares = isinstance(node, form.Compare) and node.operator in ("==", "!=")
        return compares and node.left.type is REAL and self._may_vary(node)

    def _add_notes(self, node: Expression) -> None:
        """Add notes on the places where a varying number is rounded or decides a branch."""
        for part in walk(node):
            if isinstance(part, form.Compare) and part.left.type is REAL and self._may_vary(part):
                self.note(
                    f"`{part.operator}` decides by what varies: the tangent is that of the branch taken"
                )
            elif _is_rounding(part) and self._may_vary(part):
                self.note("a whole number is made of what varies: it has no tangent")

    def _may_vary(self, node: Expression | Statement) -> bool:
        names = (part.name for part in walk(node) if isinstance(part, form.Variable))
        return any(varies_any(self.varying.get(name, False)) for name in names)

    def atom(self, node: Expression) -> str:
        """The text of a value, short enough to be written several times."""
        return self.held(self.value(node))

    def duals(self, nodes: Sequence[Expression]) -> list[tuple[str, Tangents]]:
        """Several expressions, computed one after the other."""
        pairs: list[tuple[str, Tangents]] = []
        for i, node in enumerate(nodes):
            text, tangents = self.dual(node)
            if any(not is_pure(later) for later in nodes[i + 1 :]):
                text, tangents = self.held(text), self.held_tangents(tangents)
            pairs.append((text, tangents))
        return pairs

    def dual(self, node: Expression) -> tuple[str, Tangents]:
        """The value and the tangents of an expression."""
        follow = EXPRESSIONS.get(type(node))
        if follow is None:
            raise self.refuse(f"{_in_words(node)} is not differentiated")
        if isinstance(node.type, Number) and node.type is not REAL and self.is_plain(node):
            self._add_notes(node)
            return self.pure.text(node), NO_TANGENT
        dual: tuple[str, Tangents] = getattr(self, follow.__name__)(node)
        return dual

    def constant(self, node: Any) -> tuple[str, Tangents]:
        return self.pure.text(node), NO_TANGENT

    def variable(self, node: form.Variable) -> tuple[str, Tangents]:
        varying = self.varying.get(node.name, False)
        names = dict(
            zip([p for p, on in leaves(varying) if on], self.leaf_names(node.name, varying), strict=True)
        )
        return self.identifier(node.name), tangents_of_names(varying, names)

    def element(self, node: form.Element) -> tuple[str, Tangents]:
        (owner, owners), *indices = self.duals([node.view, *node.indices])
        at = ", ".join(self.held(text) for text, _ in indices)
        return f"{owner}[{at}]", each(owners, lambda x: f"{x}[{at}]")

    def length(self, node: form.Length) -> tuple[str, Tangents]:
        owner, _ = self.dual(node.view)
        return (f"{owner}.shape[{node.axis}]" if node.axis else f"len({owner})"), NO_TANGENT

    def section(self, node: form.Section) -> tuple[str, Tangents]:
        ends = [end for end in (node.first, node.last) if end is not None]
        (owner, owners), *pairs = self.duals([node.view, *ends])
        texts = [self.held(text) for text, _ in pairs]
        first = texts.pop(0) if node.first is not None else ""
        last = texts.pop(0) if node.last is not None else ""
        return f"{owner}[{first}:{last}]", each(owners, lambda x: f"{x}[{first}:{last}]")

    def row(self, node: form.Row | form.RecordAt) -> tuple[str, Tangents]:
        owner_node = node.view if isinstance(node, form.Row) else node.rows
        (owner, owners), (index, _) = self.duals([owner_node, node.index])
        at = self.held(index)
        return f"{owner}[{at}]", each(owners, lambda x: f"{x}[{at}]")

    def field(self, node: form.Field) -> tuple[str, Tangents]:
        owner, owners = self.dual(node.record)
        if isinstance(owners, list) and isinstance(node.type, (View, RecordRows)):
            raise self.refuse(f"{node.name} lies outside the record that varies")
        whole = isinstance(node.type, Number) and node.type is not REAL
        return f"{owner}.{node.name}", NO_TANGENT if whole else each(owners, lambda x: f"{x}.{node.name}")

    def rows_in(self, node: form.RowsIn) -> tuple[str, Tangents]:
        (owner, owners), (first, _), (count, _) = self.duals([node.view, node.first, node.count])
        cls = self.pure.class_of_rows(node)
        first, count = self.held(first), self.held(count)
        is_whole = isinstance(node.type, View) and node.type.item is not REAL
        tangents = (
            NO_TANGENT if is_whole else each(owners, lambda x: f"rows_of({cls}, {x}, {first}, {count})")
        )
        return f"rows_of({cls}, {owner}, {first}, {count})", tangents

    def as_table(self, node: form.AsTable) -> tuple[str, Tangents]:
        (owner, owners), (rows, _), (columns, _) = self.duals([node.view, node.rows, node.columns])
        rows, columns = self.held(rows), self.held(columns)
        return (
            f"as_table({owner}, {rows}, {columns})",
            each(owners, lambda x: f"as_table({x}, {rows}, {columns})"),
        )

    def zeros(self, node: form.Zeros) -> tuple[str, Tangents]:
        text = self.pure.text(node)
        tangent, lanes = text, self.writer.lanes
        if lanes > 0:
            tangent = f"{text.replace('zeros(', 'zeros_in_lanes(', 1).removesuffix(')')}, {lanes})"
        return text, [tangent] * self.writer.directions

    def make_tuple(self, node: form.MakeTuple) -> tuple[str, Tangents]:
        pairs = self.duals(node.items)
        tangents = tuple(tangent for _, tangent in pairs)
        return self.pure.tuple_text(node, [text for text, _ in pairs]), tangents

    def item(self, node: form.Item) -> tuple[str, Tangents]:
        owner, owners = self.dual(node.tuple)
        return f"{self.held(owner)}[{node.index}]", owners[node.index] if isinstance(
            owners, tuple
        ) else NO_TANGENT

    def pick(self, node: form.Pick) -> tuple[str, Tangents]:
        (owner, owners), (index, _) = self.duals([node.tuple, node.index])
        at = self.held(index)
        tangents = self._picked(owners, at) if isinstance(owners, tuple) else NO_TANGENT
        return f"{self.held(owner)}[{at}]", tangents

    def _picked(self, items: tuple[Tangents, ...], at: str) -> Tangents:
        """The tangent of the item at a place that is computed."""
        if all(item is None for item in items):
            return NO_TANGENT
        if any(isinstance(item, tuple) for item in items):
            width = max(len(item) for item in items if isinstance(item, tuple))
            parts = [item if isinstance(item, tuple) else (None,) * width for item in items]
            return tuple(self._picked(tuple(part[i] for part in parts), at) for i in range(width))
        n = self.writer.directions
        listed = [item if isinstance(item, list) else ["0.0"] * n for item in items]
        return [f"({', '.join(item[k] for item in listed)},)[{at}]" for k in range(n)]

    def choice(self, node: form.Choice) -> tuple[str, Tangents]:
        """Either branch, by a statement: each may need names of its own."""
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

    def let(self, node: form.Let) -> tuple[str, Tangents]:
        self.set_name(node.name, node.value)
        return self.dual(node.body)

    def logic(self, node: form.Logic) -> tuple[str, Tangents]:
        name = self.new()
        self.emit(f"{name} = {self.value(node.left)}")
        self.flush()
        self.emit(f"if {'' if node.operator == 'and' else 'not '}{name}:")
        with self.indented():
            self.emit(f"{name} = {self.value(node.right)}")
        return name, NO_TANGENT

    def compare(self, node: form.Compare) -> tuple[str, Tangents]:
        """A comparison; equal numbers that move apart count as different, as they are beside the point."""
        duals_of = self.duals([node.left, node.right])
        if not any(varies(tangents) for _, tangents in duals_of):
            (left, _), (right, _) = duals_of
            return f"({left} {node.operator} {right})", NO_TANGENT
        if not self._is_equality(node):
            self.note(f"`{node.operator}` decides by what varies: the tangent is that of the branch taken")
            if self.writer.refuses_jumps:
                duals_of = [(self.held(v), self.held_tangents(t)) for v, t in duals_of]
                self._refuse_jumps(rates.refuse_decision, *duals_of)
            (left, _), (right, _) = duals_of
            return f"({left} {node.operator} {right})", NO_TANGENT
        self.note(
            f"`{node.operator}` decides by what varies: where both sides are equal and move apart, "
            "the tangent is that of different numbers"
        )
        (left, lefts), (right, rights) = [(self.held(v), self.held_tangents(t)) for v, t in duals_of]
        zeros = ["0.0"] * self.writer.directions
        pairs = zip(
            lefts if isinstance(lefts, list) else zeros,
            rights if isinstance(rights, list) else zeros,
            strict=True,
        )
        if node.operator == "==":
            apart = "".join(f" and {x} == {y}" for x, y in pairs if x != y)
        else:
            apart = "".join(f" or {x} != {y}" for x, y in pairs if x != y)
        decides = "agreed" if self.writer.lanes > 0 else ""
        return f"{decides}({left} {node.operator} {right}{apart})", NO_TANGENT

    def convert(self, node: form.Convert) -> tuple[str, Tangents]:
        if isinstance(node.type, Tuple):
            text, tangents = self.dual(node.operand)
            return self.pure.converted_tuple(self.held(text), node.operand.type, node.type), tangents
        text, tangents = self.dual(node.operand)
        if _is_rounding(node) and node.type is WHOLE and self.writer.refuses_jumps:
            text, tangents = self.held(text), self.held_tangents(tangents)
            self._refuse_jumps(rates.refuse_jump_beside_zero, (text, tangents))
        is_linear = (node.operand.type is REAL and node.type is REAL) or isinstance(node.type, View)
        return self.pure.converted(text, node.operand, node.type), tangents if is_linear else NO_TANGENT

    def unary(self, node: form.Unary) -> tuple[str, Tangents]:
        text, tangents = self.dual(node.operand)
        space = " " if node.operator == "not" else ""
        value = f"({node.operator}{space}{text})"
        return value, each(tangents, lambda x: f"(-{x})") if node.type is REAL else NO_TANGENT

    def binary(self, node: form.Binary) -> tuple[str, Tangents]:
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
            self._refuse_jumps(rates.refuse_jump_of_quotient, (left, lefts), (right, rights))
        return value, operator_rates.operator_tangents(
            self, node.operator, value, (left, lefts), (right, rights)
        )

    def mathematics(self, node: form.Mathematics) -> tuple[str, Tangents]:
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
        if node.name in REFUSED_ROUNDING:
            self._refuse_jumps(REFUSED_ROUNDING[node.name], *pairs)
        return value, operator_rates.function_tangents(self, node.name, value, pairs)


def _is_rounding(node: Any) -> bool:
    """Whether a real becomes a whole number."""
    return isinstance(node, form.Convert) and node.operand.type is REAL and node.type is not REAL


def _in_words(node: Expression) -> str:
    words = {form.CallAddress: "code at an address", form.CallLinked: "code that is compiled by itself"}
    return words.get(type(node), type(node).__name__)


EXPRESSIONS: dict[type, Callable[[ExpressionWriter, Any], tuple[str, Tangents]]] = {
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
