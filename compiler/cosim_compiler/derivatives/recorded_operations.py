"""Recording operators, functions of `math` and items of tuples: how adjoints go from results to operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim_compiler.derivatives import operator_rates
from cosim_compiler.derivatives.recorded_views import ViewRecorder
from cosim_compiler.derivatives.reverse_parts import Rate, Slope, Spread, slope_of
from cosim_compiler.derivatives.tangent_text import is_number
from cosim_compiler.derivatives.tangent_values import (
    NO_TANGENT,
    Dual,
    Tangents,
    varies,
)
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.types import REAL, Number, Tuple, Type

Rule = Callable[[str], str]
"""Makes the text of what an operand's adjoint gets from the text of the result's adjoint."""


class OperationRecorder(ViewRecorder):
    """The part of the writer of an adjoint that records operations."""

    def pick(self, node: form.Pick) -> Dual:
        """An item of a tuple at an index that is computed: its adjoint goes to the item that was picked."""
        (items, item_tangents), (index, _) = self.duals([node.tuple, node.index])
        at = self.held(index)
        text = f"{self.held(items)}[{at}]"
        if not isinstance(item_tangents, tuple):
            return text, NO_TANGENT
        return text, self._with_slopes(self._picked(item_tangents, at), item_tangents, node.type, at)

    def _with_slopes(
        self, tangents: Tangents, items: tuple[Tangents, ...], kind: Type, place: str
    ) -> Tangents:
        """The tangents of the item that is picked, with slopes to all items that it may be.

        Parameters
        ----------
        tangents
            Those of the picked item; their texts choose among all items.
        items
            The tangents of each item.
        kind : Type
            Of an item.
        place : str
            The name of the index, which may count from the end.
        """
        if isinstance(tangents, tuple):
            assert isinstance(kind, Tuple)
            return tuple(
                self._with_slopes(
                    part,
                    tuple(item[i] if isinstance(item, tuple) else None for item in items),
                    kind.items[i],
                    place,
                )
                for i, part in enumerate(tangents)
            )
        if tangents is None:
            return None
        if kind is not REAL:
            raise self.refuse("a view is picked out of a tuple by a number that is computed")
        children = tuple(
            (slope_of(item), _where_picked(place, number, len(items)))
            for number, item in enumerate(items)
            if item is not None
        )
        return [Rate(tangents[0], Spread(children))]

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
        texts = operator_rates.operator_tangents(self, sign, value, (left, lefts), (right, rights))
        if not isinstance(texts, list):
            return value, NO_TANGENT
        children: list[tuple[Slope, Rule]] = []
        if isinstance(lefts, list):
            children.append((slope_of(lefts), self._rule_of_left(sign, value, left, right)))
        if isinstance(rights, list):
            children.append((slope_of(rights), self._rule_of_right(sign, value, left, right)))
        is_singular = sign == "/" and not is_number(right)
        return value, [Rate(texts[0], Spread(tuple(children), is_singular))]

    def _rule_of_left(self, sign: str, value: str, left: str, right: str) -> Rule:
        """The rule of the left operand: the operator's tangent along it, with the adjoint as its tangent."""
        if sign == "*":
            return self.times_factor(right)
        return lambda weight: self._rate(sign, value, (left, [weight]), (right, None))

    def _rule_of_right(self, sign: str, value: str, left: str, right: str) -> Rule:
        """The rule of the right operand."""
        if sign == "*":
            return self.times_factor(left)
        if sign == "-":
            return _negated
        return lambda weight: self._rate(sign, value, (left, None), (right, [weight]))

    def times_factor(self, factor: str) -> Rule:
        """The rule that multiplies the adjoint by a factor."""
        return lambda weight: self.times(weight, factor)

    def _rate(self, sign: str, value: str, left: Dual, right: Dual) -> str:
        """The text of the tangent of an operator, along the one direction there is."""
        texts = operator_rates.operator_tangents(self, sign, value, left, right)
        assert isinstance(texts, list)
        return str(texts[0])

    def mathematics(self, node: form.Mathematics) -> Dual:
        pairs = self.duals(node.arguments)
        kind, name = node.type, node.name
        if not any(varies(t) for _, t in pairs) or (isinstance(kind, Number) and kind is not REAL):
            return self.pure.mathematics_text(node, [text for text, _ in pairs]), NO_TANGENT
        pairs = [(self.held(v), self.held_tangents(t)) for v, t in pairs]
        value = self.held(self.pure.mathematics_text(node, [text for text, _ in pairs]))
        tangents_of_value = operator_rates.function_tangents(self, name, value, pairs)
        if tangents_of_value is None:
            return value, NO_TANGENT
        children = tuple(
            (slope_of(tangents), self._rule_of_argument(name, value, pairs, i))
            for i, (_, tangents) in enumerate(pairs)
            if isinstance(tangents, list) and not (name == "copysign" and i)
        )
        spread = Spread(children, name in operator_rates.SLOPES or name == "pow")
        if isinstance(tangents_of_value, tuple):
            return value, tuple(
                [Rate(item[0], spread)] if isinstance(item, list) else None for item in tangents_of_value
            )
        return value, [Rate(tangents_of_value[0], spread)]

    def _rule_of_argument(self, name: str, value: str, pairs: list[Dual], i: int) -> Rule:
        """The rule of argument i: the function's tangent along it, with the adjoint as its tangent."""
        if name in operator_rates.FACTORS:
            factor = operator_rates.FACTORS[name](pairs[0][0], value)
            return lambda weight: self.times(weight, self.held(factor))

        def rule(weight: str) -> str:
            arguments = [(text, [weight] if j == i else None) for j, (text, _) in enumerate(pairs)]
            rates_of_value: Any = operator_rates.function_tangents(self, name, value, arguments)
            item = rates_of_value[0]
            return str(item[0] if isinstance(item, list) else item)

        return rule


def _where_picked(place: str, number: int, count: int) -> Rule:
    """The rule of an item: it gets the adjoint if the index `place` means it, counted from either end."""
    return lambda weight: f"({weight} if {place} == {number} or {place} == {number - count} else 0.0)"


def _negated(weight: str) -> str:
    """The text of a weight with the other sign; a number is negated here."""
    if is_number(weight.strip("()")):
        return f"({-float(weight.strip('()'))!r})"
    return f"(-{weight})"
