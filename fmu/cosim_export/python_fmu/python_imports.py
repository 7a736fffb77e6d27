"""The modules that a Python file imports, read from its text."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

IMPORTS = re.compile(r"(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)|import[ \t]+([^\n;#]*))", re.MULTILINE)
"""An import statement: what follows ``from``, or all that follows ``import``."""
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of statements that hold statements."""
IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception"}
"""An ``except`` with one of these lets a file continue without the module."""


def top_level(module: str) -> str:
    """The package that a module belongs to, or the module itself.

    >>> top_level("numpy.linalg")
    'numpy'
    """
    return module.partition(".")[0]


@dataclass(frozen=True)
class _Import:
    """An import statement: the module's name, whether a function makes it, and whether it may fail."""

    name: str
    in_function: bool
    may_fail: bool


def module_imports(source: str) -> Iterator[tuple[str, bool]]:
    r"""Top-level names that a file imports, and whether the file cannot be imported without them.

    Examples
    --------
    >>> list(module_imports("import numpy.linalg\ndef f():\n    from fmpy import extract"))
    [('numpy', True), ('fmpy', False)]
    """
    for statement in _all_imports(source):
        yield top_level(statement.name), not (statement.in_function or statement.may_fail)


@functools.cache
def mentioned_modules(source: str) -> frozenset[str]:
    r"""Top-level names that a file may import: its imports, and similar names in its strings.

    Examples
    --------
    >>> sorted(mentioned_modules("import numpy.linalg, os\ndef f(): from fmpy import extract"))
    ['fmpy', 'numpy', 'os']
    """
    names = set()
    lines = [line for line in source.replace("\\\n", " ").split("\n") if "import" in line]
    for package, several in IMPORTS.findall("\n".join(lines)):
        names |= {top_level(name.split()[0]) for name in [package, *several.split(",")] if name.strip()}
    return frozenset(names)


def inner_imports(module: str) -> set[str]:
    """Names of other packages that functions of a module import."""
    inner = [each.name for each in _imports_of(module) if each.in_function and not each.may_fail]
    return {top_level(name) for name in inner if not _are_of_one_package(name, module)}


def inner_imports_of_all(module: str, visited: set[str]) -> set[str]:
    """`inner_imports` of a module and of all modules of its package that it imports, directly or not."""
    if module in visited:
        return set()
    visited.add(module)
    names = inner_imports(module)
    for statement in _imports_of(module):
        is_needed = not statement.in_function and not statement.may_fail
        if is_needed and _are_of_one_package(statement.name, module):
            names |= inner_imports_of_all(statement.name, visited)
    return names


def _are_of_one_package(module: str, other: str) -> bool:
    return top_level(module) == top_level(other)


def _imports_of(module: str) -> tuple[_Import, ...]:
    """The imports of a module that is loaded; none if it has no source file."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not file.endswith(".py"):
        return ()
    return _all_imports(Path(file).read_text("utf-8"))


@functools.cache
def _all_imports(source: str) -> tuple[_Import, ...]:
    """The import statements of a file's text; cached, since several modules import the same files."""

    def walk(node: ast.AST, in_function: bool, may_fail: bool) -> Iterator[_Import]:
        if isinstance(node, ast.Import):
            yield from (_Import(alias.name, in_function, may_fail) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield _Import(node.module, in_function, may_fail)
        elif _is_optional(node):
            may_fail = True
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            in_function = True
        for blocks in BLOCKS:  # visits statements only: most nodes of a tree are expressions
            for child in getattr(node, blocks, ()):
                yield from walk(child, in_function, may_fail)

    return tuple(walk(ast.parse(source), False, False))


def _is_optional(node: ast.AST) -> bool:
    """Whether the program continues if the imports inside this statement fail."""
    if isinstance(node, ast.Try):
        return any(_catches_import_error(handler) for handler in node.handlers)
    return isinstance(node, ast.If) and any(_is_type_checking(part) for part in ast.walk(node.test))


def _is_type_checking(node: ast.AST) -> bool:
    return "TYPE_CHECKING" in (getattr(node, "id", ""), getattr(node, "attr", ""))


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    if any(isinstance(n, ast.Raise) for n in ast.walk(handler)):
        return False
    if handler.type is None:
        return True
    return any(isinstance(n, ast.Name) and n.id in IMPORT_ERRORS for n in ast.walk(handler.type))
