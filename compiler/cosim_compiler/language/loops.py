"""Reading loops: from Python's syntax tree to the typed form."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from cosim_compiler.language.constants import convert, make_tuple
from cosim_compiler.language.control_flow import may_leave
from cosim_compiler.language.statements import StatementReader
from cosim_compiler.language.typed_form import (
    ONE,
    ZERO,
    Break,
    Constant,
    Continue,
    Expression,
    For,
    Known,
    Length,
    Mathematics,
    Once,
    Statement,
    Variable,
    While,
)
from cosim_compiler.language.types import (
    TRUTH,
    WHOLE,
    RecordRows,
    Tuple,
    View,
    in_words,
)


class LoopReader(StatementReader):
    """The part of the reader that reads loops; see `function_reader.Reader`."""

    def _while(self, node: ast.While) -> Sequence[Statement]:
        condition = self.decision(node.test)
        if isinstance(condition, Known):
            if not condition.value:
                return self.block(node.orelse)
            condition = Constant(TRUTH, True)
        body = self.block(node.body)
        if isinstance(condition, Constant) and not may_leave(body):
            self.refuse(node, "this loop never ends: leave it with break, or by a condition that changes")
        return [While(node.lineno, condition, body, self.block(node.orelse))]

    def _break(self, node: ast.Break) -> Sequence[Statement]:
        return [Break(node.lineno)]

    def _continue(self, node: ast.Continue) -> Sequence[Statement]:
        return [Continue(node.lineno)]

    def _for(self, node: ast.For) -> Sequence[Statement]:
        """A loop over ``range`` or views; or over tuples, which is written out turn by turn."""
        source = node.iter
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name):
            called = self.expression(source.func)
            if isinstance(called, Known) and called.value in (range, enumerate, zip):
                if called.value is range:
                    return self._for_range(node, source.args)
                return self._for_several(node, source, called.value is enumerate)
        value = self.typed(self.expression(source), source)
        if isinstance(value.type, Tuple):
            before, items = self.evaluate_items_first(value, source)
            return [*before, self._written_out(node, [[item] for item in items])]
        return self._over_views(node, [value], source, is_numbered=False)

    def _for_range(self, node: ast.For, arguments: Sequence[ast.expr]) -> Sequence[Statement]:
        """A loop over whole numbers."""
        bounds = []
        for argument in arguments:
            value = self.typed(self.expression(argument), argument)
            if value.type not in (WHOLE, TRUTH):
                self.refuse(argument, f"range() does not take {in_words(value.type)}: write int(…)")
            bounds.append(convert(value, WHOLE))
        if not 1 <= len(bounds) <= 3 or not isinstance(node.target, ast.Name):
            self.refuse(node, "write for i in range(n), range(first, last) or range(first, last, step)")
        first, last = (ZERO, bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else ONE
        if isinstance(step, Constant) and step.value == 0:
            self.refuse(node.iter, "the step of range() is 0")
        return [self._counted(node, self.lifetimes.bound[id(node.target)], (first, last, step), [])]

    def _counted(
        self, node: ast.For, name: str, bounds: Sequence[Expression], begin: Sequence[Statement]
    ) -> Statement:
        """A loop over whole numbers, first, last and step; each turn begins with the statements `begin`."""
        self._declare(name, WHOLE, node.target)
        body = (*begin, *self.block(node.body))
        first, last, step = bounds
        return For(node.lineno, name, first, last, step, body, self.block(node.orelse))

    def _for_several(self, node: ast.For, source: ast.Call, is_numbered: bool) -> Sequence[Statement]:
        """``enumerate(x)`` or ``zip(x, y, …)``."""
        values = [self.typed(self.expression(a), a) for a in source.args]
        if is_numbered and len(values) != 1:
            self.refuse(source, "write enumerate(x)")
        if not values:
            self.refuse(source, "write zip(x, y)")
        if all(isinstance(value.type, Tuple) for value in values):
            computed = [self.evaluate_items_first(value, source) for value in values]
            turns = [list(items) for items in zip(*(items for _, items in computed), strict=False)]
            if is_numbered:
                turns = [[Constant(WHOLE, i), *turn] for i, turn in enumerate(turns)]
            statements = [statement for before, _ in computed for statement in before]
            return [*statements, self._written_out(node, turns)]
        return self._over_views(node, values, source, is_numbered)

    def _written_out(self, node: ast.For, turns: Sequence[Sequence[Expression]]) -> Once:
        """A loop over tuples. Their items may be of different types, so each turn is read by itself."""
        bodies = []
        for turn in turns:
            value = turn[0] if len(turn) == 1 else make_tuple(list(turn))
            begin = self.assign(node.target, value, node.iter)
            bodies.append((*begin, *self.block(node.body)))
        return Once(node.lineno, tuple(bodies), self.block(node.orelse))

    def _over_views(
        self, node: ast.For, values: Sequence[Expression], source: ast.expr, is_numbered: bool
    ) -> Sequence[Statement]:
        """A loop over the elements of views, by an index that no name of the author's stands for."""
        statements: list[Statement] = []
        views: list[Expression] = []
        lengths: list[Expression] = []
        for value in values:
            before, view = self.evaluate_first(value, source)
            statements += before
            views.append(view)
            lengths.append(self._length(view, source))
        last: Expression = lengths[0]
        for length in lengths[1:]:
            last = Mathematics(WHOLE, "min", (last, length))
        name = self.new_name(WHOLE)
        index = Variable(WHOLE, name)
        items = [self.item_at(view, index, source) for view in views]
        items = [index, *items] if is_numbered else items
        begin = self.assign(node.target, items[0] if len(items) == 1 else make_tuple(items), source)
        return [*statements, self._counted(node, name, (ZERO, last, ONE), begin)]

    def _length(self, value: Expression, source: ast.expr) -> Expression:
        """The number of turns of a loop over a value."""
        if isinstance(value.type, Tuple):
            return Constant(WHOLE, len(value.type.items))
        if isinstance(value.type, RecordRows) or (isinstance(value.type, View) and value.type.axes == 1):
            return Length(WHOLE, value)
        self.refuse(source, f"a loop does not go over {in_words(value.type)}: write range(…)")
