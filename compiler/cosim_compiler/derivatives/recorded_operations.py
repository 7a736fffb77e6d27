"""Recording operators, functions of `math` and choices: how adjoints go on from results to operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim_compiler.derivatives import operator_rates
from cosim_compiler.derivatives.expression_writer import _is_number
from cosim_compiler.derivatives.recorded_views import ViewRecorder
from cosim_compiler.derivatives.reverse_parts import Rate, Slope, Spread, slope_of
from cosim_compiler.derivatives.segments import Dual
from cosim_compiler.derivatives.tangent_values import (
    NO_TANGENT,
    Tangents,
    varies,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.types import REAL, Number, Tuple, Type


class OperationRecorder(ViewRecorder):
    """The part of the writer of an adjoint that records operations."""

    def pick(self, node: form.Pick) -> Dual:
        (owner, owners), (index, _) = self.duals([node.tuple, node.index])
        at = self.held(index)
        text = f"{self.held(owner)}[{at}]"
        if not isinstance(owners, tuple):
            return text, NO_TANGENT
        texts = self._picked(owners, at)
        n = len(owners)

        def with_slopes(part: Tangents, items: tuple[Tangents, ...], kind: Type) -> Tangents:
            """The tangents of the item that is picked, each with the adjoints of all items it may be."""
            if isinstance(part, tuple):
                assert isinstance(kind, Tuple)
                return tuple(
                    with_slopes(
                        one,
                        tuple(item[i] if isinstance(item, tuple) else None for item in items),
                        kind.items[i],
                    )
                    for i, one in enumerate(part)
                )
            if part is None:
                return None
            if kind is not REAL:
                raise self.refuse("a view is picked out of a tuple by a number that is computed")
            children = tuple(
                (slope_of(item), lambda w, j=j: f"({w} if {at} == {j} or {at} == {j - n} else 0.0)")
                for j, item in enumerate(items)
                if item is not None
            )
            return [Rate(part[0], Spread(children))]

        return text, with_slopes(texts, owners, node.type)

    def convert(self, node: form.Convert) -> Dual:
        if isinstance(node.type, Tuple):
            text, tangents = self.dual(node.operand)
            return self.pure.converted_tuple(self.held(text), node.operand.type, node.type), tangents
        return super().convert(node)

    def unary(self, node: form.Unary) -> Dual:
        text, tangents = self.dual(node.operand)
        space = " " if node.operator == "not" else ""
        value = f"({node.operator}{space}{text})"
        if node.type is not REAL or not isinstance(tangents, list):
            return value, NO_TANGENT
        slope = slope_of(tangents)
        return value, [Rate(f"(-{tangents[0]})", Spread(((slope, _negated),)))]

    def binary(self, node: form.Binary) -> Dual:
        pairs = self.duals([node.left, node.right])
        if node.type is not REAL or not any(varies(t) for _, t in pairs):
            (left, _), (right, _) = pairs
            return f"({left} {node.operator} {right})", NO_TANGENT
        sign = node.operator
        (left, lefts), (right, rights) = [(self.held(v), self.held_tangents(t)) for v, t in pairs]
        value = f"({left} {sign} {right})"
        if sign == "/":
            value = self.held(value)
        elif sign in ("//", "%"):
            self.note(f"`{sign}` jumps: the tangent is that between two jumps")
        texts = operator_rates.of_operator(self, sign, value, (left, lefts), (right, rights))
        if not isinstance(texts, list):
            return value, NO_TANGENT
        children: list[tuple[Slope, Callable[[str], str]]] = []
        if isinstance(lefts, list):
            if sign == "*":
                rule = self._factor(right)
            else:
                rule = lambda w: self._rule(sign, value, (left, [w]), (right, None))  # noqa: E731
            children.append((slope_of(lefts), rule))
        if isinstance(rights, list):
            if sign == "*":
                rule = self._factor(left)
            elif sign == "-":
                rule = _negated
            else:
                rule = lambda w: self._rule(sign, value, (left, None), (right, [w]))  # noqa: E731
            children.append((slope_of(rights), rule))
        is_singular = sign == "/" and not _is_number(right)
        return value, [Rate(texts[0], Spread(tuple(children), is_singular))]

    def _factor(self, factor: str) -> Callable[[str], str]:
        return lambda w: self.times(w, factor)

    def _rule(self, sign: str, value: str, left: Any, right: Any) -> str:
        texts = operator_rates.of_operator(self, sign, value, left, right)
        assert isinstance(texts, list)
        return str(texts[0])

    def mathematics(self, node: form.Mathematics) -> Dual:
        pairs = self.duals(node.arguments)
        kind, name = node.type, node.name
        if not any(varies(t) for _, t in pairs) or (isinstance(kind, Number) and kind is not REAL):
            return self.pure.mathematics_text(node, [text for text, _ in pairs]), NO_TANGENT
        pairs = [(self.held(v), self.held_tangents(t)) for v, t in pairs]
        value = self.held(self.pure.mathematics_text(node, [text for text, _ in pairs]))
        tangents_of_value = operator_rates.of_mathematics(self, name, value, pairs)
        if tangents_of_value is None:
            return value, NO_TANGENT
        children = tuple(
            (slope_of(tangents), self._of_argument(name, value, pairs, i))
            for i, (_, tangents) in enumerate(pairs)
            if isinstance(tangents, list) and not (name == "copysign" and i)
        )
        spread = Spread(children, name in operator_rates.SLOPES or name == "pow")
        if isinstance(tangents_of_value, tuple):
            return value, tuple(
                [Rate(item[0], spread)] if isinstance(item, list) else None for item in tangents_of_value
            )
        return value, [Rate(tangents_of_value[0], spread)]

    def _of_argument(self, name: str, value: str, pairs: list[Dual], i: int) -> Callable[[str], str]:
        """What goes on to one argument of a function."""
        if name in operator_rates.FACTORS:
            factor = operator_rates.FACTORS[name](pairs[0][0], value)
            return lambda w: self.times(w, self.held(factor))

        def rule(weight: str) -> str:
            only_one = [(text, [weight] if j == i else None) for j, (text, _) in enumerate(pairs)]
            rates_of_value: Any = operator_rates.of_mathematics(self, name, value, only_one)
            item = rates_of_value[0]
            return str(item[0] if isinstance(item, list) else item)

        return rule


def _negated(weight: str) -> str:
    if _is_number(weight.strip("()")):
        return f"({-float(weight.strip('()'))!r})"
    return f"(-{weight})"
