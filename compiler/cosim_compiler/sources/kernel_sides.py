"""Where a kernel function has kinks, read from its source: functions whose signs change there.

``abs(e)`` has a kink where e is zero, ``max(a, b)`` and ``min(a, b)`` where a - b is, and so may have a
branch on ``a < b``. For each of them a function is made that computes e, or a - b, and nothing else: what the
function does before it, as far as the number depends on it. Where it is passed several times (in a loop) the
result is the number nearest to zero, with the sign of the product; where it is not passed, a large positive
one.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kept_reading import KeptReading, as_written
from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_source import definition_of, source_of
from cosim_compiler.sources.own_arrays import arrays_made
from cosim_compiler.sources.plain_bodies import plain_branches, with_helpers
from cosim_compiler.sources.run_source import run_source
from cosim_compiler.sources.source_slices import names_given, names_read, slice_for
from cosim_compiler.sources.tree_walk import tree_nodes

MOST_ROUNDS = 16  # of loops, each of which has kinks of its own
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
CALLS = ("abs", "fabs", "max", "min")
FAR = 1e300
NEAREST = 1e-300
SIDE, NEARER = "_side", "_nearer_side"


def nearer_side(side: float, value: float) -> float:
    """The one nearer to zero of two numbers, never zero itself, with the sign of their product.

    >>> [nearer_side(2.0, -3.0), nearer_side(-2.0, -1.0), nearer_side(-2.0, 0.0)]
    [-2.0, 1.0, -1e-300]
    """
    size = max(min(abs(side), abs(value)), NEAREST)
    if (side < 0.0) == (value < 0.0):
        return size
    return -size


@dataclass(frozen=True)
class Sides:
    """The kinks of a function.

    Attributes
    ----------
    functions : tuple of function
        Each takes some of the arguments and returns a number whose sign changes at a kink.
    missed : tuple of int
        Lines with `abs`, `max` or `min` for which no function could be made.
    lines : tuple of int
        Lines with `abs`, `max` or `min`.
    """

    functions: tuple[types.FunctionType, ...] = ()
    missed: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()


@dataclass(eq=False)
class _Site:
    """What has a kink, the numbers that are zero there, and the statement and the loops that it stands in."""

    statement: ast.stmt
    node: ast.expr
    numbers: list[ast.expr]
    loops: tuple[ast.stmt, ...]


@functools.cache
def sides_of(function: types.FunctionType, constant: frozenset[str]) -> Sides:
    """The kinks of a kernel function; `constant` are arguments that do not change during a run."""
    reading = KeptReading(*as_written(function), "kinks", repr(sorted(constant)))
    if reading.fact is not None:
        texts, missed, lines = reading.fact
        return Sides(tuple(_kept_side(function, *each) for each in texts), tuple(missed), tuple(lines))
    sides = _sides_read(function, constant)
    texts = [_fact_of(side, function) for side in sides.functions]
    if None not in texts:
        reading.remember([texts, sides.missed, sides.lines])
    return sides


def _fact_of(side: types.FunctionType, function: types.FunctionType) -> list[Any] | None:
    """Name and text of the function of a kink, and how what it mentions is reached; None where it is not."""
    mentioned = {name: value for name, value in environment(side).items() if name != NEARER}
    ways = {name: _way_to(value, function) for name, value in mentioned.items()}
    return None if None in ways.values() else [side.__name__, source_of(side), ways]


def _way_to(value: Any, function: types.FunctionType) -> list[str] | None:
    """Names that lead from a function through helpers to a value: each is mentioned by the one before."""
    ways: dict[types.FunctionType, list[str]] = {function: []}
    for member in (unread := [function]):  # which becomes longer here
        for name, known in environment(member).items():
            if known is value:
                return [*ways[member], name]
            if isinstance(known, types.FunctionType) and known not in ways:
                ways[known] = [*ways[member], name]
                unread.append(known)
    return None


def _kept_side(
    function: types.FunctionType, name: str, text: str, ways: Mapping[str, list[str]]
) -> types.FunctionType:
    names: dict[str, Any] = {}
    for mentioned, way in ways.items():
        value: Any = function
        for step in way:
            value = environment(value)[step]
        names[mentioned] = value
    return _side_of(name, text, names, function)


def _side_of(
    name: str, text: str, names: Mapping[str, Any], function: types.FunctionType
) -> types.FunctionType:
    """The function of a kink, from its text and what this mentions."""
    space = {**names, NEARER: nearer_side, "__name__": function.__module__}
    side: types.FunctionType = run_source(text, space)[name]
    return side


def _sides_read(function: types.FunctionType, constant: frozenset[str]) -> Sides:
    """The same, read from the source."""
    if not _may_have_kinks(function):
        return Sides()
    names = dict(environment(function))
    body = with_helpers(copy.deepcopy(definition_of(function)).body, names, _has_kinks)
    body = plain_branches(body)
    effects = effects_of(function)
    arrays = frozenset(arrays_made(ast.Module(body, []), names))
    moving = _moving(body, set(effects.arguments) - effects.writes - effects.adds - constant) | arrays
    calls = list(_kinks_in(ast.Module(body, []), moving))
    failed = {id(call): call.lineno for call in calls}
    side_functions: list[types.FunctionType] = []
    for site in _sites(body, moving):
        chosen = list(itertools.product(site.numbers, _rounds(site.loops)))
        functions = [_function_of(function, body, names, arrays, site, *each) for each in chosen]
        usable = [each for each in functions if each is not None]
        if len(usable) == len(chosen):
            side_functions += usable
            failed.pop(id(site.node), None)
    in_helpers = _lines_of_helpers(names, body, moving)
    missed = {*failed.values(), *in_helpers}
    lines = {*(call.lineno for call in calls), *in_helpers}
    return Sides(tuple(side_functions), tuple(sorted(missed)), tuple(sorted(lines)))


def _may_have_kinks(function: types.FunctionType) -> bool:
    """Whether it, or a helper, calls something with a kink, or whether it branches."""
    if set(CALLS).intersection(_names_in_reach(function)):
        return True
    return any(isinstance(node, (ast.If, ast.IfExp)) for node in tree_nodes(definition_of(function)))


@functools.cache
def _has_kinks(helper: types.FunctionType) -> bool:
    """Whether a helper, or one that it calls, has a kink in one of its arguments."""
    if not set(CALLS).intersection(_names_in_reach(helper)):
        return False
    tree = definition_of(helper)
    moving = _moving(tree.body, {a.arg for a in tree.args.args})
    if any(_kinks_in(tree, moving)):
        return True
    helpers = [h for h in environment(helper).values() if isinstance(h, types.FunctionType)]
    return any(_has_kinks(inner) for inner in helpers if inner is not helper)


def _names_in_reach(
    function: types.FunctionType, visited: frozenset[types.FunctionType] = frozenset()
) -> set[str]:
    """Names that a function and its helpers mention."""
    names = set(function.__code__.co_names)
    for helper in environment(function).values():
        if isinstance(helper, types.FunctionType) and helper not in visited and helper is not function:
            names |= _names_in_reach(helper, visited | {function})
    return names


def _lines_of_helpers(names: Mapping[str, Any], body: list[ast.stmt], moving: set[str]) -> list[int]:
    """Lines that call a helper with a kink, on something that moves."""
    return [
        node.lineno
        for node in tree_nodes(ast.Module(body, []))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and isinstance(helper := names.get(node.func.id), types.FunctionType)
        and any(_moves(argument, moving) for argument in node.args)
        and _has_kinks(helper)
    ]


def _moving(body: list[ast.stmt], arguments: set[str]) -> set[str]:
    """Names whose values change during a run: those arguments, and what is computed from them."""
    moving, before = set(arguments), -1
    while len(moving) != before:
        before = len(moving)
        for node in tree_nodes(ast.Module(body, [])):
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
                source = node.iter if isinstance(node, ast.For) else node.value
                if source is not None and _moves(source, moving):
                    moving |= names_given(node)
    return moving


def _moves(node: ast.AST, moving: set[str]) -> bool:
    """Whether an expression varies with one of these names: the length and the shape of an array do not."""
    if isinstance(node, ast.Name):
        return node.id in moving
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return False
    return any(_moves(child, moving) for child in ast.iter_child_nodes(node))


def _kinks_in(tree: ast.AST, moving: set[str]) -> Iterator[ast.Call]:
    """The calls with a kink, but for those that are only compared with something."""
    if isinstance(tree, ast.Call) and _is_kink(tree, moving):
        yield tree
    if not isinstance(tree, ast.Compare):
        for child in ast.iter_child_nodes(tree):
            yield from _kinks_in(child, moving)


def _is_kink(node: ast.Call, moving: set[str]) -> bool:
    """Whether it is a call with a kink in something that moves."""
    if node.keywords:
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in CALLS or (name in ("max", "min") and len(node.args) < 2):
        return False
    return any(_moves(argument, moving) for argument in node.args)


def _sites(body: list[ast.stmt], moving: set[str], loops: tuple[ast.stmt, ...] = ()) -> Iterator[_Site]:
    for statement in body:
        inside = (*loops, statement) if isinstance(statement, (ast.For, ast.While)) else loops
        for part in ("body", "orelse"):
            yield from _sites(getattr(statement, part, []), moving, inside)
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)) and value is not None:
            for node in _always_computed(value):
                if isinstance(node, ast.IfExp):
                    yield _Site(statement, node, _compared(node.test, moving), loops)
                elif _is_kink(node, moving):
                    yield _Site(statement, node, _numbers(node), loops)
        if isinstance(statement, ast.If) and not all(isinstance(s, ast.Raise) for s in statement.body):
            yield _Site(statement, statement.test, _compared(statement.test, moving), loops)


def _always_computed(node: ast.AST) -> Iterator[ast.Call | ast.IfExp]:
    """The calls and branches in an expression that are met whatever it compares."""
    if isinstance(node, (ast.Call, ast.IfExp)):
        yield node
    if isinstance(node, (ast.IfExp, ast.Compare)):
        return
    children = node.values[:1] if isinstance(node, ast.BoolOp) else ast.iter_child_nodes(node)
    for child in children:
        yield from _always_computed(child)


def _numbers(call: ast.Call) -> list[ast.expr]:
    """Expressions that are zero at the kinks of a call."""
    if len(call.args) == 1:
        return [call.args[0]]
    differences: list[ast.expr] = []
    extreme = call.args[0]
    for argument in call.args[1:]:
        differences.append(ast.BinOp(extreme, ast.Sub(), argument))
        extreme = ast.Call(call.func, [extreme, argument], [])
    return differences


def _compared(test: ast.expr, moving: set[str]) -> list[ast.expr]:
    """What is zero where the result of the first comparison of a test changes."""
    if isinstance(test, ast.BoolOp):
        return _compared(test.values[0], moving)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _compared(test.operand, moving)
    if not isinstance(test, ast.Compare) or not all(isinstance(op, ORDERS) for op in test.ops):
        return []
    terms = [test.left, *test.comparators]
    pairs = [ast.BinOp(a, ast.Sub(), b) for a, b in itertools.pairwise(terms)]
    return [pair for pair in pairs if _moves(pair, moving)]


def _rounds(loops: Iterable[ast.stmt]) -> list[dict[str, int]]:
    """The rounds of loops, by their variables, with kinks of their own; one for all where they are many."""
    rounds: list[dict[str, int]] = [{}]
    for loop in loops:
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
            return [{}]
        bounds, is_range = loop.iter.args, ast.unparse(loop.iter.func) == "range"
        numbers = [a.value for a in bounds if isinstance(a, ast.Constant) and isinstance(a.value, int)]
        if not is_range or len(numbers) != len(bounds) or not isinstance(loop.target, ast.Name):
            return [{}]
        rounds = [{**turn, loop.target.id: i} for turn in rounds for i in range(*numbers)]
    return rounds if len(rounds) <= MOST_ROUNDS else [{}]


def _function_of(
    function: types.FunctionType,
    body: list[ast.stmt],
    names_of_body: Mapping[str, Any],
    arrays: frozenset[str],
    site: _Site,
    number: ast.expr,
    turn: Mapping[str, int],
) -> types.FunctionType | None:
    """The function of one kink; None where it would need results of the function itself, or its arrays."""

    def noted() -> list[ast.stmt]:
        real = ast.Call(ast.Name("float", ast.Load()), [copy.deepcopy(number)], [])
        nearer = ast.Call(ast.Name(NEARER, ast.Load()), [ast.Name(SIDE, ast.Load()), real], [])
        statement: ast.stmt = ast.Assign([ast.Name(SIDE, ast.Store())], nearer)
        for name, i in turn.items():
            is_turn = ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [ast.Constant(i)])
            statement = ast.If(is_turn, [statement], [])
        return [statement]

    statements, text = slice_for(body, site.statement, noted, SIDE)
    read = names_read(ast.Module(statements, []))
    effects = effects_of(function)
    if read & (effects.writes | effects.adds | arrays):
        return None
    name = f"{function.__name__}_kink_at_line_{site.node.lineno}"
    header = f"def {name}({', '.join(a for a in effects.arguments if a in read)}):\n    {SIDE} = {FAR!r}\n"
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return _side_of(name, f"{header}{lines}    return {SIDE}\n", names_of_body, function)
