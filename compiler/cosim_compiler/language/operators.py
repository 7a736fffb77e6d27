"""Reading operators, comparisons and conditions: from Python's syntax tree to the typed form."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from cosim_compiler.language.constants import NoLanesError, convert, known, make_tuple, parts_of
from cosim_compiler.language.lifetimes import Lifetimes
from cosim_compiler.language.reading import Functions
from cosim_compiler.language.typed_form import (
    ZERO,
    Binary,
    Choice,
    Compare,
    Constant,
    Expression,
    Function,
    Known,
    Let,
    Logic,
    Unary,
    Variable,
    is_pure,
)
from cosim_compiler.language.types import (
    LANES,
    REAL,
    TRUTH,
    WHOLE,
    DisagreementError,
    Number,
    Tuple,
    Type,
    View,
    in_words,
    is_for_lanes,
    is_number,
    is_truth_for_lanes,
    truth_beside,
    unify,
)

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
OF_WHOLE = ("<<", ">>", "&", "|", "^")
"""Operators that reals do not have."""
IN_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip
"""What each operator does in Python, for operands that are known."""
COMPARISONS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
COMPUTE = "compute with their elements"
"""The remedy for an operator of views or tuples."""


class OperatorReader:
    """The part of the reader that reads operators; see `function_reader.Reader`."""

    program: Functions
    function: Function
    author: Any  # a function, which type checkers would take for a method
    environment: dict[str, Any]
    lifetimes: Lifetimes
    variables: dict[str, Type]

    def refuse(self, node: ast.AST | None, sentence: str) -> NoReturn:
        raise NotImplementedError

    def typed(self, expression: Expression, node: ast.AST) -> Expression:
        raise NotImplementedError

    def new_name(self, type_: Type) -> str:
        raise NotImplementedError

    def is_in_loop(self, node: ast.AST) -> bool:
        raise NotImplementedError

    def evaluate_once(self, value: Expression, build: Callable[[Expression], Expression]) -> Expression:
        """Build an expression from a value that may be read several times, or in part."""
        if is_pure(value):
            return build(value)
        name = self.new_name(value.type)
        body = build(Variable(value.type, name))
        return Let(body.type, name, value, body)

    def expression(self, node: ast.expr) -> Expression:
        """The typed form of an expression; `Known` for a value of Python."""
        read = getattr(self, f"_{type(node).__name__.lower()}_expression", None)
        if read is None:
            self.refuse(node, f"the language has no {type(node).__name__.lower()}")
        value: Expression = read(node)
        return value

    def number(self, node: ast.expr) -> Expression:
        """An expression that has to be a number."""
        value = self.typed(self.expression(node), node)
        if not is_number(value.type):
            self.refuse(node, f"a number is needed, and this is {in_words(value.type)}")
        return value

    def condition(self, node: ast.expr) -> Expression:
        """An expression as a truth value; `Known` where Python knows it."""
        if isinstance(node, ast.BoolOp):
            return self._joined(node, self.condition)
        return self.as_condition(self.expression(node), node)

    def as_condition(self, value: Expression, node: ast.AST) -> Expression:
        if isinstance(value, Known):
            return known(bool(value.value))
        if value.type in (REAL, WHOLE):
            return Compare(TRUTH, "!=", value, convert(ZERO, value.type))
        if value.type is not TRUTH and not is_truth_for_lanes(value.type):
            self.refuse(node, f"{in_words(value.type)} is neither true nor false: compare its elements")
        return value

    def _unaryop_expression(self, node: ast.UnaryOp) -> Expression:
        """``-x``, ``+x``, ``~x`` or ``not x``."""
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            truth = self.as_condition(value, node.operand)
            return known(not truth.value) if isinstance(truth, Known) else Unary(truth.type, "not", truth)
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        if isinstance(value, Known) and isinstance(value.value, (int, float, np.number)):
            in_python: Any = {"-": operator.neg, "+": operator.pos, "~": operator.invert}[sign]
            return known(in_python(value.value))
        value = self.typed(value, node.operand)
        if not is_number(value.type) or (sign == "~" and value.type is REAL):
            self.refuse(node, f"`{sign}` does not take {in_words(value.type)}: {COMPUTE}")
        value = convert(value, unify(value.type, WHOLE))
        return value if sign == "+" else Unary(value.type, sign, value)

    def _binop_expression(self, node: ast.BinOp) -> Expression:
        sign = OPERATORS.get(type(node.op))
        if sign is None:
            self.refuse(node, operator_alternative(node.op))
        return self.binary(sign, self.expression(node.left), self.expression(node.right), node)

    def binary(self, sign: str, left: Expression, right: Expression, node: ast.AST) -> Expression:
        """An operator of two values; of two tuples, ``+`` joins them."""
        if isinstance(left, Known) and isinstance(right, Known) and _are_computable(left.value, right.value):
            folded = self._folded(sign, left.value, right.value, node)
            if folded is not None:
                return folded
        left, right = self.typed(left, node), self.typed(right, node)
        if sign == "+" and isinstance(left.type, Tuple) and isinstance(right.type, Tuple):
            return self.evaluate_once(
                left,
                lambda first: self.evaluate_once(
                    right, lambda second: make_tuple([*parts_of(first), *parts_of(second)])
                ),
            )
        if not (is_number(left.type) and is_number(right.type)):
            if isinstance(left.type, View) or isinstance(right.type, View):
                self.refuse(
                    node,
                    "this makes an array, and compiled code does not allocate: "
                    "compute with its elements, one by one: for i in range(3): x[i] = …",
                )
            self.refuse(
                node, f"`{sign}` does not take {in_words(left.type)} and {in_words(right.type)}: {COMPUTE}"
            )
        common = unify(unify(left.type, right.type), REAL if sign == "/" else WHOLE)
        if is_for_lanes(common) and sign in ("//", "%"):
            raise NoLanesError(f"`{sign}` does not take {in_words(common)}")
        if sign in OF_WHOLE and (common is REAL or is_for_lanes(common)):
            self.refuse(node, f"`{sign}` takes whole numbers: write int(…)")
        if sign in "&|^" and left.type is right.type is TRUTH:
            common = TRUTH
        return Binary(common, sign, convert(left, common), convert(right, common))

    def _folded(self, sign: str, left: Any, right: Any, node: ast.AST) -> Expression | None:
        """The constant result of an operation; None if Python raises, where the processor has a result."""
        if sign == "<<" and isinstance(right, int) and right > 64:
            self.refuse(node, "this does not fit into 64 bits")
        if sign in ("<<", ">>") and isinstance(right, int) and right < 0:
            back = ">>" if sign == "<<" else "<<"
            self.refuse(node, f"a shift by {right} places is an error in Python: write `{back} {-right}`")
        try:
            with np.errstate(all="ignore"):
                return known(IN_PYTHON[sign](left, right))
        except ArithmeticError:
            return None
        except (TypeError, ValueError) as fault:
            self.refuse(node, str(fault))

    def _compare_expression(self, node: ast.Compare) -> Expression:
        first, *later = [self.expression(node.left), *map(self.expression, node.comparators)]
        if len(later) == 1:
            return self._compared(node.ops[0], first, later[0], node)
        return self.evaluate_once(first, lambda left: self._chained(node.ops, left, later, node))

    def _chained(
        self, signs: Sequence[ast.cmpop], left: Expression, others: Sequence[Expression], node: ast.AST
    ) -> Expression:
        """``a < b < c``: each operand is computed once, and only if the comparisons before it hold."""
        if len(others) == 1:
            return self._compared(signs[0], left, others[0], node)
        return self.evaluate_once(
            others[0],
            lambda right: self.logic(
                "and",
                self._compared(signs[0], left, right, node),
                self._chained(signs[1:], right, others[1:], node),
            ),
        )

    def _compared(self, sign: ast.cmpop, left: Expression, right: Expression, node: ast.AST) -> Expression:
        if isinstance(sign, (ast.In, ast.NotIn)):
            is_in = self._is_in(left, right, node)
            if isinstance(sign, ast.In):
                return is_in
            return known(not is_in.value) if isinstance(is_in, Known) else Unary(TRUTH, "not", is_in)
        if type(sign) not in COMPARISONS:
            self.refuse(node, "numbers are compared with ==")
        return self.compare(COMPARISONS[type(sign)], left, right, node)

    def _is_in(self, value: Expression, among: Expression, node: ast.AST) -> Expression:
        """``x in (a, b)``: whether it is equal to one of the items."""
        items = self.typed(among, node)
        if not isinstance(items.type, Tuple):
            self.refuse(node, f"`in` is for tuples, and this is {in_words(items.type)}")

        def equals_one(element: Expression, listed: Expression) -> Expression:
            truth: Expression = known(False)
            for item in parts_of(listed):
                truth = self.logic("or", truth, self.compare("==", element, item, node))
            return truth if not isinstance(truth, Known) else Constant(TRUTH, bool(truth.value))

        return self.evaluate_once(value, lambda a: self.evaluate_once(items, lambda b: equals_one(a, b)))

    def compare(self, sign: str, left: Expression, right: Expression, node: ast.AST) -> Expression:
        """A comparison; tuples are equal if all their items are."""
        if isinstance(left, Known) and isinstance(right, Known):
            return known(bool(IN_PYTHON[sign](left.value, right.value)))
        left, right = self.typed(left, node), self.typed(right, node)
        if isinstance(left.type, Tuple) and isinstance(right.type, Tuple):
            return self._compare_tuples(sign, left, right, node)
        if not (is_number(left.type) and is_number(right.type)):
            self.refuse(
                node, f"`{sign}` does not take {in_words(left.type)} and {in_words(right.type)}: {COMPUTE}"
            )
        common = unify(unify(left.type, right.type), WHOLE)
        assert isinstance(common, Number)
        truth = truth_beside(common)
        return Compare(truth, sign, convert(left, common), convert(right, common))

    def _compare_tuples(self, sign: str, left: Expression, right: Expression, node: ast.AST) -> Expression:
        """``==`` or ``!=`` of two tuples, item by item."""
        if sign not in ("==", "!="):
            self.refuse(node, f"`{sign}` does not take tuples: {COMPUTE}")

        def compare_items(first: Expression, second: Expression) -> Expression:
            items = parts_of(first), parts_of(second)
            truth: Expression = known(len(items[0]) == len(items[1]))
            for item, other in zip(*items, strict=False):
                truth = self.logic("and", truth, self.compare("==", item, other, node))
            if isinstance(truth, Known):
                truth = Constant(TRUTH, bool(truth.value))
            return truth if sign == "==" else Unary(TRUTH, "not", truth)

        return self.evaluate_once(left, lambda a: self.evaluate_once(right, lambda b: compare_items(a, b)))

    @staticmethod
    def logic(sign: str, left: Expression, right: Expression) -> Expression:
        """``and`` or ``or`` of truth values."""
        if isinstance(left, Known):
            return right if left.value == (sign == "and") else left
        if isinstance(right, Known):
            right = Constant(TRUTH, bool(right.value))
        for type_ in (left.type, right.type):
            if is_truth_for_lanes(type_):
                left, right = convert(left, type_), convert(right, type_)
        return Logic(left.type, sign, left, right)

    def _boolop_expression(self, node: ast.BoolOp) -> Expression:
        return self._joined(node, self._operand)

    def _joined(self, node: ast.BoolOp, read: Callable[[ast.expr], Expression]) -> Expression:
        """``and`` or ``or`` of several operands, up to one that is known to decide."""
        sign = "and" if isinstance(node.op, ast.And) else "or"
        truth = read(node.values[0])
        for operand in node.values[1:]:
            if isinstance(truth, Known) and truth.value != (sign == "and"):
                return truth
            truth = self.logic(sign, truth, read(operand))
        return truth

    def _operand(self, node: ast.expr) -> Expression:
        value = self.expression(node)
        if not isinstance(value, Known) and value.type is not TRUTH and not is_truth_for_lanes(value.type):
            shown = ast.unparse(node)
            self.refuse(
                node,
                f"`and` and `or` join conditions, and this is {in_words(value.type)}: write {shown} != 0",
            )
        return self.as_condition(value, node)

    def _ifexp_expression(self, node: ast.IfExp) -> Expression:
        """``yes if condition else no``; one of the two if the condition is known."""
        condition = self.condition(node.test)
        if isinstance(condition, Known):
            return self.expression(node.body if condition.value else node.orelse)
        yes = self.typed(self.expression(node.body), node.body)
        no = self.typed(self.expression(node.orelse), node.orelse)
        try:
            common = unify(yes.type, no.type)
        except DisagreementError:
            self.refuse(
                node,
                f"this is {in_words(yes.type)} or {in_words(no.type)}: make it the same in both branches",
            )
        if isinstance(condition.type, Number) and is_truth_for_lanes(condition.type):
            if not (is_number(common) and is_pure(yes) and is_pure(no)):
                raise NoLanesError("what each lane chooses has to be computed for all lanes")
            common = LANES[condition.type.lanes]
        return Choice(common, condition, convert(yes, common), convert(no, common))


def operator_alternative(sign: ast.operator) -> str:
    """What to write in place of an operator that the language does not have."""
    if isinstance(sign, ast.MatMult):
        return "write matmul(a, b, out), or dot(a, b) of vectors: from cosim.functions import matmul, dot"
    return "write x * x, or math.pow(x, y) for a real exponent"


def _are_computable(*values: Any) -> bool:
    return all(isinstance(value, (int, float, np.number, tuple)) for value in values)
