"""The kernel function of a graph of symbols."""

from __future__ import annotations

import functools
import linecache
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import cosim
from cosim.kit import rows_of
from cosim_dynamics.symbol import Symbol

#: Name of the slot that stands for time.
TIME = "t"
HEAD = "def {name}(t, y, p, d, k, h, c, ints, first, count):"


@dataclass(frozen=True)
class TracedKernel:
    """A kernel function that computes some expressions, with what its rows hold.

    Attributes
    ----------
    function : function
        With the signature of a block.
    source : str
        Its text.
    inputs : tuple of (str, int)
        Name and element of each slot that it reads: a row holds their offsets in this order, and last
        the offset of the first result in the cache.
    size : int
        How many results it writes, one after the other.
    """

    function: FunctionType
    source: str
    inputs: tuple[tuple[str, int], ...]
    size: int


def write_kernel(name: str, results: Sequence[Any], arrays: Mapping[str, str]) -> TracedKernel:
    """Write expressions out as a kernel function; every shared sub-expression is computed once.

    Parameters
    ----------
    name : str
        An identifier.
    results : sequence of Symbol or float
    arrays : mapping of str to str
        For each slot's name the array that it lies in: "y", "p", "d" or "c".

    Returns
    -------
    TracedKernel
        The same text gives the same function, so that components can share a block.

    Raises
    ------
    cosim.ContractError
        When a result is not a finite number.

    Examples
    --------
    >>> from cosim_dynamics.symbol import SymbolGraph
    >>> r = SymbolGraph().slot("ratio")
    >>> print(write_kernel("gear", [r * r, 2.0], {"ratio": "p"}).source)
    def gear(t, y, p, d, k, h, c, ints, first, count):
        for i in range(count):
            row = rows_of(int, ints, first + 2 * i, 2)
            v0 = rows_of(float, p, row[0], 1)[0]  # ratio[0]
            v1 = v0 * v0
            results = rows_of(float, c, row[1], 2)
            results[0] = v1
            results[1] = 2.0
    <BLANKLINE>
    """
    used: set[int] = set()
    nodes: dict[int, Symbol] = {}
    pending = [r for r in results if isinstance(r, Symbol)]
    while pending:
        node = pending.pop()
        if node.index not in used:
            used.add(node.index)
            nodes[node.index] = node
            pending += [a for a in node.arguments if isinstance(a, Symbol)]
    order = [nodes[i] for i in sorted(used)]  # a node is made after its arguments
    inputs = tuple(node.arguments for node in order if node.operation == "slot" and node.arguments[0] != TIME)
    width = len(inputs) + 1
    names = {node.index: f"v{i}" for i, node in enumerate(order)}
    lines = [
        HEAD.format(name=name),
        "    for i in range(count):",
        f"        row = rows_of(int, ints, first + {width} * i, {width})",
    ]
    column = 0
    for node in order:
        if node.operation == "slot":
            slot, element = node.arguments
            if slot == TIME:
                text = "t"
            else:
                text = f"rows_of(float, {arrays[slot]}, row[{column}], 1)[0]  # {slot}[{element}]"
                column += 1
        else:
            text = _expression(node, names)
        lines.append(f"        {names[node.index]} = {text}")
    lines.append(f"        results = rows_of(float, c, row[{width - 1}], {len(results)})")
    lines += [f"        results[{i}] = {_operand(r, names)}" for i, r in enumerate(results)]
    source = "\n".join(lines) + "\n"
    return TracedKernel(_function(name, source), source, inputs, len(results))


def _expression(node: Symbol, names: Mapping[int, str]) -> str:
    operands = [_operand(a, names) for a in node.arguments]
    if node.operation == "neg":
        return f"-{operands[0]}"
    if len(operands) == 1:
        return f"math.{node.operation}({operands[0]})"
    return f"{operands[0]} {node.operation} {operands[1]}"


def _operand(value: Any, names: Mapping[int, str]) -> str:
    if isinstance(value, Symbol):
        return names[value.index]
    if not math.isfinite(value):
        raise cosim.ContractError(f"an equation contains {value}, which is not a finite number")
    return f"({float(value)!r})" if value < 0.0 else repr(float(value))


@functools.cache
def _function(name: str, source: str) -> FunctionType:
    """The function of a text that `write_kernel` made of a graph: nothing in it was typed by anyone."""
    file = f"<traced equations {name} {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space: dict[str, Any] = {"math": math, "rows_of": rows_of, "__name__": __name__}
    exec(compile(source, file, "exec"), space)  # noqa: S102
    function: FunctionType = space[name]
    return function
