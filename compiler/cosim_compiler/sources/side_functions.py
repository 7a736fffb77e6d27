"""Functions that compute the number whose sign changes at a kink: made from the source, stored and restored.

Such a side function repeats those statements of the kernel function before the kink on which the number
depends. If the kink is passed several times, in a loop, the result is the number nearest to zero, with the
sign of the product of all; if it is not passed, a large positive number.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Mapping
from typing import Any

from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_source import source_of
from cosim_compiler.sources.kink_places import KinkPlace
from cosim_compiler.sources.run_source import run_source
from cosim_compiler.sources.source_slices import names_read, slice_for

FAR = 1e300
NEAREST = 1e-300
SIDE, NEARER = "_side", "_nearer_side"


def nearer_side(side: float, value: float) -> float:
    """The size of the number nearer to zero, at least `NEAREST`, with the sign of the product of both.

    >>> [nearer_side(2.0, -3.0), nearer_side(-2.0, -1.0), nearer_side(-2.0, 0.0)]
    [-2.0, 1.0, -1e-300]
    """
    size = max(min(abs(side), abs(value)), NEAREST)
    if (side < 0.0) == (value < 0.0):
        return size
    return -size


def side_function(
    function: types.FunctionType,
    body: list[ast.stmt],
    names_of_body: Mapping[str, Any],
    arrays: frozenset[str],
    place: KinkPlace,
    number: ast.expr,
    turn: Mapping[str, int],
) -> types.FunctionType | None:
    """The side function of one kink, in one round of the loops around it.

    None if it would need results or arrays of the kernel function.

    Parameters
    ----------
    body : list of ast.stmt
        The body of the function, without calls of short helpers.
    names_of_body : mapping of str to object
        The values of the global names in it.
    arrays : frozenset of str
        The names of arrays that the function makes.
    place : KinkPlace
    number : ast.expr
        One of `place.numbers`.
    turn : mapping of str to int
        The round, as values of the loops' variables.
    """

    def update_side() -> list[ast.stmt]:
        real = ast.Call(ast.Name("float", ast.Load()), [copy.deepcopy(number)], [])
        nearer = ast.Call(ast.Name(NEARER, ast.Load()), [ast.Name(SIDE, ast.Load()), real], [])
        statement: ast.stmt = ast.Assign([ast.Name(SIDE, ast.Store())], nearer)
        for name, i in turn.items():
            is_turn = ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [ast.Constant(i)])
            statement = ast.If(is_turn, [statement], [])
        return [statement]

    statements, text = slice_for(body, place.statement, update_side, SIDE)
    read = names_read(ast.Module(statements, []))
    effects = effects_of(function)
    if read & (effects.writes | effects.adds | arrays):
        return None
    name = f"{function.__name__}_kink_at_line_{place.node.lineno}"
    header = f"def {name}({', '.join(a for a in effects.arguments if a in read)}):\n    {SIDE} = {FAR!r}\n"
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return side_of_text(name, f"{header}{lines}    return {SIDE}\n", names_of_body, function)


def stored_side(side: types.FunctionType, function: types.FunctionType) -> list[Any] | None:
    """A side function in the types of JSON: its name, its text, and the paths to the values in it, by name.

    None if no path leads from the kernel function to a value.
    """
    mentioned = {name: value for name, value in environment(side).items() if name != NEARER}
    paths = {name: _path_to(value, function) for name, value in mentioned.items()}
    return None if None in paths.values() else [side.__name__, source_of(side), paths]


def _path_to(value: Any, function: types.FunctionType) -> list[str] | None:
    """Names that lead from a function through helpers to a value; None if there are none."""
    paths: dict[types.FunctionType, list[str]] = {function: []}
    for member in (unread := [function]):  # the loop appends helpers
        for name, mentioned in environment(member).items():
            if mentioned is value:
                return [*paths[member], name]
            if isinstance(mentioned, types.FunctionType) and mentioned not in paths:
                paths[mentioned] = [*paths[member], name]
                unread.append(mentioned)
    return None


def restored_side(
    function: types.FunctionType, name: str, text: str, paths: Mapping[str, list[str]]
) -> types.FunctionType:
    """The side function from what `stored_side` has returned."""
    names: dict[str, Any] = {}
    for mentioned, path in paths.items():
        value: Any = function
        for step in path:
            value = environment(value)[step]
        names[mentioned] = value
    return side_of_text(name, text, names, function)


def side_of_text(
    name: str, text: str, names: Mapping[str, Any], function: types.FunctionType
) -> types.FunctionType:
    """The side function from its text, and the values of the names in it."""
    space = {**names, NEARER: nearer_side, "__name__": function.__module__}
    side: types.FunctionType = run_source(text, space)[name]
    return side
