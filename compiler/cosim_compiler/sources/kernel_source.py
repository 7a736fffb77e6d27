"""The source of a kernel function as a syntax tree, with the lines of its file."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import threading
import types
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from cosim_compiler.errors import ContractError
from cosim_compiler.sources.tree_walk import tree_nodes

HOLD_STATEMENTS = ("body", "handlers", "orelse", "finalbody", "cases")
"""The fields of nodes that hold statements."""
FLAT = "__flat__"
"""The mark of a flat function (`flatten`), which has its definition."""


class _TextOfCode(NamedTuple):
    """The source of a file by the code of one of its functions, which keeps the id of the code alive."""

    code: types.CodeType
    text: str


class _TextOfLines(NamedTuple):
    """The source of a file by the lines that `linecache` had."""

    lines: list[str]
    text: str


one_tree_at_a_time = threading.RLock()
"""Held while a text is parsed, or a tree compiled.

Python 3.11 counts the depth of trees of all threads together, and raises SystemError if another thread goes
on in the middle, as during a collection of garbage.
"""

_texts_of_code: dict[int, _TextOfCode] = {}
_texts_of_lines: dict[str, _TextOfLines] = {}


def definition_of(function: types.FunctionType) -> ast.FunctionDef:
    """The definition of a function; its lines are those of the file."""
    if (flat := function.__dict__.get(FLAT)) is not None:
        tree: ast.FunctionDef = flat.tree
        return tree
    return _written_definition(function)


@functools.cache
def _written_definition(function: types.FunctionType) -> ast.FunctionDef:
    definition = _definitions(source_of(function)).get(function.__code__.co_firstlineno)
    if definition is None:
        code = function.__code__
        raise ContractError(
            f"{code.co_filename}:{code.co_firstlineno}: {function.__qualname__}: a kernel function is made "
            "with def: write def name(x): return …"
        )
    return definition


def text_of(function: types.FunctionType, node: ast.expr) -> str:
    """An expression, as its author wrote it."""
    written = None
    if FLAT in function.__dict__ and node.lineno == node.end_lineno:
        written = ast.get_source_segment(source_of(function), node)
    return written or ast.unparse(node)


def authors_name(function: types.FunctionType, name: str) -> str:
    """The author's name of a local name."""
    flat = function.__dict__.get(FLAT)
    written: str = name if flat is None else flat.renamed.get(name, name)
    return written


def source_of(function: types.FunctionType) -> str:
    """The text of the file, or of the cell of a notebook, in which a function is written; read once."""
    stored = _texts_of_code.get(id(function.__code__))  # the hash of code takes longer than all else here
    if stored is None:
        stored = _texts_of_code[id(function.__code__)] = _TextOfCode(
            function.__code__, _read_source(function)
        )
    return stored.text


def _read_source(function: types.FunctionType) -> str:
    file = function.__code__.co_filename
    if file.startswith("<") and file in linecache.cache:  # made of text, see `run_source`
        return _joined(file, linecache.getlines(file))
    if file in _texts_of_lines:  # as `inspect`, which looks for the file itself each time
        linecache.checkcache(file)
        if lines := linecache.getlines(file, function.__globals__):
            return _joined(file, lines)
    try:
        lines, _ = inspect.findsource(function)
    except (OSError, TypeError) as error:
        raise ContractError(
            f"{function.__qualname__}: its source cannot be read ({error}): kernel functions are written in "
            "a file or in a cell of a notebook; instead of exec(text) call cosim.kit.run_source(text)"
        ) from error
    return _joined(file, lines)


def _joined(file: str, lines: list[str]) -> str:
    """The text of lines: one object for all functions of a file, whose hash is known."""
    stored = _texts_of_lines.get(file)
    if stored is None or stored.lines is not lines:
        stored = _texts_of_lines[file] = _TextOfLines(lines, "".join(lines))
    return stored.text


def names_of_file(function: types.FunctionType) -> frozenset[str]:
    """Names that the file of a function binds at its top level, anywhere."""
    return _top_level_names(source_of(function))


def assigned_in_class(function: types.FunctionType) -> dict[str, str]:
    """The assignments in the class body around a function: by name, the text of the value."""
    return _class_bodies(source_of(function)).get(function.__code__.co_firstlineno, {})


def where(function: types.FunctionType, line: int | None = None) -> str:
    """File, line and name for a message; without a line, that at which the function begins."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno if line is None else line}: {function.__qualname__}"


def parse(source: str) -> ast.Module:
    """The syntax tree of a text, in any thread."""
    with one_tree_at_a_time:
        return ast.parse(source)


@functools.cache
def _definitions(source: str) -> dict[int, ast.FunctionDef]:
    """The functions of a file by the line at which each begins, decorators included."""
    functions = [node for node in statements(parse(source)) if isinstance(node, ast.FunctionDef)]
    return {min([node.lineno, *(d.lineno for d in node.decorator_list)]): node for node in functions}


@functools.cache
def _class_bodies(source: str) -> dict[int, dict[str, str]]:
    """Assignments of each class body, by the line at which a function in it begins."""
    bodies: dict[int, dict[str, str]] = {}
    for node in statements(parse(source)):
        if isinstance(node, ast.ClassDef):
            single = [
                s for s in node.body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
            ]
            assigned = {ast.unparse(s.targets[0]): ast.unparse(s.value) for s in single}
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    first = min([inner.lineno, *(d.lineno for d in inner.decorator_list)])
                    bodies[first] = assigned
    return bodies


@functools.cache
def _top_level_names(source: str) -> frozenset[str]:
    names: set[str] = set()
    for statement in parse(source).body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            names.add(statement.name)
        else:
            names.update(bound_names(statement))
    return frozenset(names)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """A tree and the statements in it, in the order of `ast.walk`, which spends its time on expressions."""
    left = deque([tree])
    while left:
        node = left.popleft()
        for name in HOLD_STATEMENTS:
            left.extend(getattr(node, name, ()))
        yield node


def bound_names(tree: ast.AST) -> set[str]:
    """Names that a statement or a function binds: by assignment, by a loop, by an import."""
    names: set[str] = set()
    for node in tree_nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    return names
