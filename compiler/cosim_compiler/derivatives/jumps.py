"""Jumps in the text of a tangent: what is noted there, and what raises.

A number that varies and is rounded, or decides a branch, makes the function jump: there it has a derivative
on either side only. The tangent is that of the side on which the values lie. A note says so, and with
`TangentWriter.refuses_jumps` the text raises exactly at the jump.
"""

from __future__ import annotations

from typing import Any

from cosim_compiler.derivatives import rates
from cosim_compiler.derivatives.tangent_text import TangentText
from cosim_compiler.derivatives.tangent_values import Tangents, varies, varies_any
from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Statement, is_pure, walk
from cosim_compiler.language.types import REAL

ROUNDING_RULES = {
    "floor": rates.refuse_jump,
    "ceil": rates.refuse_jump,
    "trunc": rates.refuse_jump_beside_zero,
    "rint": rates.refuse_jump_at_half,
    "fmod": rates.refuse_jump_of_quotient,
}
"""By function of `math` that rounds: the rule that raises where it jumps."""


class JumpWriter(TangentText):
    """The part of the writer of a function that deals with jumps; see `function_writer.FunctionWriter`."""

    def is_plain(self, node: Expression) -> bool:
        """Whether an expression whose tangent does not count is written as it stands."""
        return self.is_same_at_points(node) and not any(map(self._is_refused, walk(node)))

    def is_same_at_points(self, node: Expression) -> bool:
        """Whether an expression is pure, and has at single points the value that it has beside them."""
        return is_pure(node) and not any(map(self.is_equality, walk(node)))

    def is_equality(self, node: Any) -> bool:
        """Whether two reals that vary are compared by ``==`` or ``!=``: they are equal at points only."""
        is_comparison = isinstance(node, form.Compare) and node.operator in ("==", "!=")
        return is_comparison and node.left.type is REAL and self._may_vary(node)

    def _is_refused(self, node: Any) -> bool:
        """Whether the tangent raises where an expression jumps."""
        jumps = (
            (isinstance(node, form.Compare) and node.left.type is REAL)
            or is_rounding(node)
            or (isinstance(node, form.Mathematics) and node.name in ROUNDING_RULES)
            or (isinstance(node, form.Binary) and node.type is REAL and node.operator in ("//", "%"))
        )
        return bool(self.writer.refuses_jumps and jumps and self._may_vary(node))

    def refuse_jumps(self, rule: Any, *operands: tuple[str, Tangents]) -> None:
        """Write a call of the rule that raises where an operation jumps, unless no operand varies."""
        if not self.writer.refuses_jumps or not any(varies(tangents) for _, tangents in operands):
            return
        name = self.writer.names.name(rule, rule.__name__)
        values = [text for text, _ in operands]
        for k in range(self.writer.directions):
            dots = [tangents[k] if isinstance(tangents, list) else "0.0" for _, tangents in operands]
            self.emit(f"{name}({', '.join([*values, *dots])})")

    def add_notes(self, node: Expression) -> None:
        """Add notes on the places where a varying number is rounded or decides a branch."""
        for part in walk(node):
            if isinstance(part, form.Compare) and part.left.type is REAL and self._may_vary(part):
                self.note_decision(part)
            elif is_rounding(part) and self._may_vary(part):
                self.note("a whole number is made of what varies: it has no tangent")

    def note_decision(self, node: form.Compare) -> None:
        """Add a note on a comparison of numbers that vary."""
        self.note(f"`{node.operator}` decides by what varies: the tangent is that of the branch taken")

    def _may_vary(self, node: Expression | Statement) -> bool:
        names = (part.name for part in walk(node) if isinstance(part, form.Variable))
        return any(varies_any(self.varying.get(name, False)) for name in names)


def is_rounding(node: Any) -> bool:
    """Whether a real becomes a whole number or a truth value."""
    return isinstance(node, form.Convert) and node.operand.type is REAL and node.type is not REAL
