"""Which elements a loop over constant numbers reaches, read from the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from cosim_compiler.sources.kernel_source import statements

LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
CONDITIONAL = (ast.If, ast.IfExp, ast.While, ast.BoolOp, ast.Assert, ast.Try, ast.Match)
Span = tuple[int, int]


def loop_indices(tree: ast.AST, constants: Mapping[str, object]) -> Iterator[tuple[str, int, int, int]]:
    """Name, least and greatest index, and line of each element that loops reach whatever the values are.

    Nothing is said of what a condition may keep from being reached, and of indices that are not sums and
    products of loop variables and numbers.

    Parameters
    ----------
    tree : ast.AST
        A function.
    constants : mapping of str to object
        What the names of its module stand for.
    """
    if not any(isinstance(node, ast.For) for node in statements(tree)):
        return
    numbers = {n: (v, v) for n, v in constants.items() if isinstance(v, int) and not isinstance(v, bool)}
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    yield from _reached(tree, {n: span for n, span in numbers.items() if n not in own}, in_loop=False)


def _reached(node: ast.AST, spans: Mapping[str, Span], in_loop: bool) -> Iterator[tuple[str, int, int, int]]:
    if in_loop and isinstance(node, CONDITIONAL):
        return
    if in_loop and isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        reached = _span(node.slice, spans)
        if reached is not None:
            yield node.value.id, *reached, node.lineno
    if isinstance(node, ast.For):
        inner = _inside(node, spans)
        if inner is not None:
            for statement in node.body:
                yield from _reached(statement, inner, True)
        return
    for child in ast.iter_child_nodes(node):
        yield from _reached(child, spans, in_loop)


def _inside(loop: ast.For, spans: Mapping[str, Span]) -> dict[str, Span] | None:
    """What is known of names in the body of a loop; None where it may be left, or never entered."""
    below = [node for statement in loop.body for node in ast.walk(statement)]
    written = {n.id for n in below if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    name = loop.target.id if isinstance(loop.target, ast.Name) else ""
    if not name or name in written or any(isinstance(node, LEAVES) for node in below):
        return None
    values = _range(loop.iter, spans)
    if not values:
        return None
    known = {n: span for n, span in spans.items() if n not in written}
    return {**known, name: (min(values), max(values))}


def _range(node: ast.expr, spans: Mapping[str, Span]) -> range | None:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"):
        return None
    ends = [_span(argument, spans) for argument in node.args]
    if not 1 <= len(ends) <= 3 or any(end is None or end[0] != end[1] for end in ends):
        return None
    numbers = [end[0] for end in ends if end is not None]
    return range(*numbers) if len(numbers) < 3 or numbers[2] != 0 else None


def _span(node: ast.expr, spans: Mapping[str, Span]) -> Span | None:
    """Least and greatest value of a whole number."""
    if isinstance(node, ast.Constant):
        is_whole = isinstance(node.value, int) and not isinstance(node.value, bool)
        return (node.value, node.value) if is_whole else None  # type: ignore[return-value]
    if isinstance(node, ast.Name):
        return spans.get(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = _span(node.operand, spans)
        return None if found is None else (-found[1], -found[0])
    if isinstance(node, ast.BinOp) and _each_once(node):
        first, second = _span(node.left, spans), _span(node.right, spans)
        if first is not None and second is not None:
            return _combined(node.op, first, second)
    return None


def _each_once(node: ast.BinOp) -> bool:
    """Whether no name comes twice: then the ends of the parts are those of the whole."""
    names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    return len(names) == len(set(names))


def _combined(operator: ast.operator, first: Span, second: Span) -> Span | None:
    if isinstance(operator, ast.Add):
        return first[0] + second[0], first[1] + second[1]
    if isinstance(operator, ast.Sub):
        return first[0] - second[1], first[1] - second[0]
    if isinstance(operator, ast.Mult):
        products = [a * b for a in first for b in second]
        return min(products), max(products)
    return None
