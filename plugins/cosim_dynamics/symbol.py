"""Symbols: numbers that are not known yet. Arithmetic with them draws a graph instead of computing."""

from __future__ import annotations

import linecache
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import cosim

HERE = str(Path(__file__).parent)


def _operators(operation: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The methods of a symbol for ``self + other`` and ``other + self``."""

    def left(self: Symbol, other: Any) -> Any:
        return self.graph.binary(operation, self, other)

    def right(self: Symbol, other: Any) -> Any:
        return self.graph.binary(operation, other, self)

    return left, right


class Symbol:
    """A scalar expression in slots of the State and the cache.

    An equation that is written once must hold for every State, so `self.ratio` in it is a symbol. Equal
    sub-expressions of one `SymbolGraph` are one node.

    Limits
    ------
    A symbol has no value: comparing it, branching on it and turning it into a float are errors.

    Raises
    ------
    cosim.ContractError
        When the author's code asks for a value, with its line.

    Examples
    --------
    >>> graph = SymbolGraph()
    >>> r = graph.slot("ratio")
    >>> r * 2.0 + 1.0 is 1.0 + 2.0 * r
    True
    """

    __slots__ = ("arguments", "graph", "index", "operation")

    def __init__(self, graph: SymbolGraph, index: int, operation: str, arguments: tuple[Any, ...]) -> None:
        self.graph, self.index, self.operation, self.arguments = graph, index, operation, arguments

    __add__, __radd__ = _operators("+")
    __sub__, __rsub__ = _operators("-")
    __mul__, __rmul__ = _operators("*")
    __truediv__, __rtruediv__ = _operators("/")

    def __neg__(self) -> Any:
        return self.graph.unary("neg", self)

    def __pos__(self) -> Symbol:
        return self

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, int) and 1 <= exponent <= 4:
            result: Any = self
            for _ in range(exponent - 1):
                result = result * self
            return result
        return _refuse(f"raising to the power {exponent!r}", "write products, or sqrt(x)")

    def sin(self) -> Any:
        """Sine; also what ``numpy.sin`` calls."""
        return self.graph.unary("sin", self)

    def cos(self) -> Any:
        """Cosine; also what ``numpy.cos`` calls."""
        return self.graph.unary("cos", self)

    def sqrt(self) -> Any:
        """Square root; also what ``numpy.sqrt`` calls."""
        return self.graph.unary("sqrt", self)

    def __bool__(self) -> NoReturn:
        _refuse("branching on a value", "move the choice into an option, or write it without a branch")

    def _compared(self, other: object) -> NoReturn:
        _refuse("branching on a value", "move the choice into an option, or write it without a comparison")

    __lt__ = __le__ = __gt__ = __ge__ = _compared
    __eq__ = __ne__ = _compared
    __hash__ = object.__hash__

    def __float__(self) -> NoReturn:
        _refuse("turning a value into a number", "use sin, cos and sqrt of cosim_dynamics in place of math's")

    __int__ = __index__ = __abs__ = __round__ = __float__

    def __repr__(self) -> str:
        if self.operation == "slot":
            name, element = self.arguments
            return f"{name}[{element}]"
        return f"{self.operation}({', '.join(repr(a) for a in self.arguments)})"


class SymbolGraph:
    """All nodes of one trace, each kept once."""

    def __init__(self) -> None:
        self.nodes: list[Symbol] = []
        self._known: dict[tuple[Any, ...], Symbol] = {}

    def slot(self, name: str, element: int = 0) -> Symbol:
        """One number of a declared quantity."""
        return self._node("slot", (name, element))

    def binary(self, operation: str, a: Any, b: Any) -> Any:
        """A node for a + - * / of two symbols or numbers; a plain number where that is known."""
        if not (_is_operand(a) and _is_operand(b)):
            return NotImplemented
        for operand in (a, b):
            if isinstance(operand, Symbol) and operand.graph is not self:
                raise cosim.ContractError(
                    "symbols of two components met in one expression: each equation is traced alone"
                )
        a, b = (x if isinstance(x, Symbol) else float(x) for x in (a, b))
        simple = _simplified(operation, a, b)
        if simple is not None:
            return simple
        if operation in "+*" and _order(b) < _order(a):
            a, b = b, a
        return self._node(operation, (a, b))

    def unary(self, operation: str, a: Symbol) -> Any:
        """A node for neg, sin, cos or sqrt."""
        if operation == "neg" and a.operation == "neg":
            return a.arguments[0]
        return self._node(operation, (a,))

    def _node(self, operation: str, arguments: tuple[Any, ...]) -> Symbol:
        key = (operation, *[("node", a.index) if isinstance(a, Symbol) else a for a in arguments])
        if key not in self._known:
            self._known[key] = Symbol(self, len(self.nodes), operation, arguments)
            self.nodes.append(self._known[key])
        return self._known[key]


def sin(x: Any) -> Any:
    """Sine of a number or a symbol, rad."""
    return x.sin() if isinstance(x, Symbol) else math.sin(x)


def cos(x: Any) -> Any:
    """Cosine of a number or a symbol, rad."""
    return x.cos() if isinstance(x, Symbol) else math.cos(x)


def sqrt(x: Any) -> Any:
    """Square root of a number or a symbol."""
    return x.sqrt() if isinstance(x, Symbol) else math.sqrt(x)


def author_line() -> str:
    """The line outside of this package that is executed now: ``file:line: its text``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    return f"{file}:{line}: {linecache.getline(file, line).strip()}"


def _refuse(operation: str, instead: str) -> NoReturn:
    raise cosim.ContractError(
        f"{author_line()}\n  {operation}: an equation is defined once for all States, "
        f"so it contains no values; {instead}."
    )


def _is_operand(value: Any) -> bool:
    return isinstance(value, (Symbol, int, float, np.floating, np.integer)) and not isinstance(value, bool)


def _order(value: Any) -> tuple[int, float]:
    return (1, value.index) if isinstance(value, Symbol) else (0, value)


def _simplified(operation: str, a: Any, b: Any) -> Any:
    """The simplified result of a + - * / with an operand of 0 or 1; None for others."""
    left = None if isinstance(a, Symbol) else a
    right = None if isinstance(b, Symbol) else b
    if operation == "+":
        return b if left == 0.0 else a if right == 0.0 else None
    if operation == "-":
        return a if right == 0.0 else -b if left == 0.0 else 0.0 if a is b else None
    if operation == "*":
        if left == 0.0 or right == 0.0:
            return 0.0
        return (
            b if left == 1.0 else a if right == 1.0 else -b if left == -1.0 else -a if right == -1.0 else None
        )
    return a if right == 1.0 else 0.0 if left == 0.0 else None
