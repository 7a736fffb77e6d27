"""Expressions of the typed form as text of the language; reading the text gives the same typed form again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression
from cosim_compiler.language.types import REAL, TRUTH, WHOLE, Tuple, Type, View

TO_WHOLE = {"floor": "math.floor", "ceil": "math.ceil", "trunc": "math.trunc", "rint": "round"}
BUILTINS = {"fabs": "abs", "abs": "abs", "min": "min", "max": "max"}


class PureText:
    """Writes pure expressions, which need no statements before them.

    Parameters
    ----------
    names : TangentNames
        Names the values of Python that are mentioned.
    identifier : callable
        Returns the name in the text for a local name.
    refuse : callable
        Returns the exception for what cannot be written, from the reason.
    """

    def __init__(
        self, names: Any, identifier: Callable[[str], str], refuse: Callable[[str], Exception]
    ) -> None:
        self._names, self._identifier, self._refuse = names, identifier, refuse

    def text(self, node: Expression) -> str:
        """The text of a pure expression."""
        write = WRITERS.get(type(node))
        if write is None:
            raise self._refuse(f"{type(node).__name__} is not differentiated")
        return write(self, node)

    def _all(self, nodes: Sequence[Expression]) -> list[str]:
        return [self.text(node) for node in nodes]

    def constant(self, node: form.Constant) -> str:
        if node.type is not REAL:
            return f"({node.value})" if node.type is WHOLE and node.value < 0 else str(node.value)
        if math.isnan(node.value):
            return "math.nan"
        if math.isinf(node.value):
            return "math.inf" if node.value > 0 else "(-math.inf)"
        text = repr(float(node.value))
        return f"({text})" if text.startswith("-") else text

    def constant_view(self, node: form.ConstantView) -> str:
        kind = np.float64 if isinstance(node.type, View) and node.type.item is REAL else np.int64
        array = np.array(node.numbers, dtype=kind).reshape(node.shape)
        return self._names.array(array)

    def variable(self, node: form.Variable) -> str:
        return self._identifier(node.name)

    def element(self, node: form.Element) -> str:
        return f"{self.text(node.view)}[{', '.join(self._all(node.indices))}]"

    def length(self, node: form.Length) -> str:
        owner = self.text(node.view)
        return f"{owner}.shape[{node.axis}]" if node.axis else f"len({owner})"

    def section(self, node: form.Section) -> str:
        ends = ("" if end is None else self.text(end) for end in (node.first, node.last))
        return f"{self.text(node.view)}[{':'.join(ends)}]"

    def row(self, node: form.Row) -> str:
        return f"{self.text(node.view)}[{self.text(node.index)}]"

    def record_at(self, node: form.RecordAt) -> str:
        return f"{self.text(node.rows)}[{self.text(node.index)}]"

    def field(self, node: form.Field) -> str:
        return f"{self.text(node.record)}.{node.name}"

    def class_of_rows(self, node: form.RowsIn) -> str:
        """The name of the class of records, or the kind of numbers, that lie in a view."""
        if isinstance(node.type, View):
            return "float" if node.type.item is REAL else "int"
        return str(self._names.name(node.type.of, "record"))  # type: ignore[union-attr]

    def rows_in(self, node: form.RowsIn) -> str:
        return (
            f"rows_of({self.class_of_rows(node)}, "
            f"{', '.join(self._all((node.view, node.first, node.count)))})"
        )

    def as_table(self, node: form.AsTable) -> str:
        return f"as_table({', '.join(self._all((node.view, node.rows, node.columns)))})"

    def zeros(self, node: form.Zeros) -> str:
        shape = form.view_type(node).shape
        assert shape is not None
        return f"zeros({shape[0] if len(shape) == 1 else shape})"

    def tuple_text(self, node: form.MakeTuple, items: Sequence[str]) -> str:
        """A tuple of these items, of the class of `node`."""
        of = node.type.of if isinstance(node.type, Tuple) else None
        listed = ", ".join(items)
        if of is not None:
            return f"{self._names.name(of, 'tuple')}({listed})"
        return f"({listed},)" if len(items) == 1 else f"({listed})"

    def make_tuple(self, node: form.MakeTuple) -> str:
        return self.tuple_text(node, self._all(node.items))

    def item(self, node: form.Item) -> str:
        return f"{self.text(node.tuple)}[{node.index}]"

    def pick(self, node: form.Pick) -> str:
        return f"{self.text(node.tuple)}[{self.text(node.index)}]"

    def unary(self, node: form.Unary) -> str:
        return f"({node.operator}{' ' if node.operator == 'not' else ''}{self.text(node.operand)})"

    def binary(self, node: form.Binary | form.Compare | form.Logic) -> str:
        return f"({self.text(node.left)} {node.operator} {self.text(node.right)})"

    def choice(self, node: form.Choice) -> str:
        return f"({self.text(node.yes)} if {self.text(node.condition)} else {self.text(node.no)})"

    def converted(self, text: str, operand: Expression, to: Type) -> str:
        """A value as one of another type. In plain Python, numbers of NumPy stay such."""
        if to is REAL and operand.type in (WHOLE, TRUTH):
            return f"({text} * 1.0)"
        if to is WHOLE and operand.type is REAL:
            return text if _is_rounded(operand) else f"int({text})"
        if to is WHOLE and operand.type is TRUTH:
            return f"int({text})"
        if isinstance(to, View) or to == operand.type:
            return text
        raise self._refuse("a conversion is not differentiated")

    def converted_tuple(self, name: str, kind: Type, to: Type) -> str:
        """A tuple that has a name, converted item by item."""
        assert isinstance(kind, Tuple)
        assert isinstance(to, Tuple)
        items = []
        for i, (item, wanted) in enumerate(zip(kind.items, to.items, strict=True)):
            text = f"{name}[{i}]"
            if isinstance(wanted, Tuple):
                items.append(self.converted_tuple(text, item, wanted))
            else:
                items.append(self.converted(text, Expression(item), wanted))
        return self.tuple_text(form.MakeTuple(to, ()), items)

    def convert(self, node: form.Convert) -> str:
        text = self.text(node.operand)
        if isinstance(node.type, Tuple):
            return self.converted_tuple(text, node.operand.type, node.type)
        return self.converted(text, node.operand, node.type)

    def mathematics_text(self, node: form.Mathematics, arguments: Sequence[str]) -> str:
        """A call of a function of `math` or of a builtin."""
        name = TO_WHOLE.get(node.name) or BUILTINS.get(node.name) or f"math.{node.name}"
        return f"{name}({', '.join(arguments)})"

    def mathematics(self, node: form.Mathematics) -> str:
        return self.mathematics_text(node, self._all(node.arguments))


def _is_rounded(node: Expression) -> bool:
    """Whether an expression is written as a whole number already."""
    return isinstance(node, form.Mathematics) and node.name in TO_WHOLE


WRITERS: dict[type, Callable[[PureText, Any], str]] = {
    form.Constant: PureText.constant,
    form.ConstantView: PureText.constant_view,
    form.Variable: PureText.variable,
    form.Element: PureText.element,
    form.Length: PureText.length,
    form.Section: PureText.section,
    form.Row: PureText.row,
    form.RecordAt: PureText.record_at,
    form.Field: PureText.field,
    form.RowsIn: PureText.rows_in,
    form.AsTable: PureText.as_table,
    form.Zeros: PureText.zeros,
    form.MakeTuple: PureText.make_tuple,
    form.Item: PureText.item,
    form.Pick: PureText.pick,
    form.Unary: PureText.unary,
    form.Binary: PureText.binary,
    form.Compare: PureText.binary,
    form.Logic: PureText.binary,
    form.Choice: PureText.choice,
    form.Convert: PureText.convert,
    form.Mathematics: PureText.mathematics,
}
