"""The stub of a module as it is written: its statements with signatures alone, some of them replaced."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from cosim_workbench.stub_types import import_lines, stub_name


def stub_of_source(module: str, replaced: Mapping[str, list[str]], mentioned: Iterable[type[Any]]) -> str:
    """The stub of a module.

    Parameters
    ----------
    module : str
    replaced : mapping of str to list of str
        By the name of a function: the signatures that take the place of its own.
    mentioned : iterable of type
        Classes that these signatures may name.
    """
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    lines = ["from typing import Any"]
    if replaced:
        lines += ["import cosim", "from collections.abc import Sequence"]
        lines += ["from typing import Literal, overload", "from numpy.typing import ArrayLike"]
        lines += import_lines(cls for cls in mentioned if stub_name(cls) in str(replaced))
    body = signatures_alone(tree.body, replaced)
    return "\n".join([*lines, ast.unparse(ast.Module(body, []))]) + "\n"


def signatures_alone(body: Iterable[ast.stmt], replaced: Mapping[str, list[str]]) -> list[ast.stmt]:
    """Statements of a module or class with signatures only."""
    statements: list[ast.stmt] = []
    overloaded: set[str] = set()
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            statements += [] if getattr(node, "module", "") == "__future__" else [node]
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            branch = node.orelse if ast.unparse(node.test).startswith("not ") else node.body
            statements += signatures_alone(branch, replaced)
        elif isinstance(node, ast.ClassDef):
            node.body = signatures_alone(node.body, replaced) or [ast.Expr(ast.Constant(...))]
            statements.append(node)
        elif isinstance(node, ast.FunctionDef) and node.name in replaced:
            statements += [] if node.name in overloaded else overloads(replaced[node.name])
            overloaded.add(node.name)
        elif isinstance(node, ast.FunctionDef):
            node.body = [ast.Expr(ast.Constant(...))]
            node.decorator_list = [d for d in node.decorator_list if changes_signature(d)]
            statements.append(node)
        elif isinstance(node, ast.AnnAssign):
            node.value = None
            statements.append(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name == "instead":  # of `FixedAttributes`: a class variable, said there
                continue
            statements.append(node if makes_type(name, node.value) else annotation_any(name))
    return statements


def overloads(signatures: list[str]) -> list[ast.stmt]:
    """The function with these signatures, as overloads if there are several."""
    prefix = "@overload\n" if len(signatures) > 1 else ""
    return ast.parse("\n".join(f"{prefix}{signature}" for signature in signatures)).body


def changes_signature(decorator: ast.expr) -> bool:
    """Whether a decorator changes what a call of the function means to a type checker."""
    text = ast.unparse(decorator)
    return text in ("property", "classmethod", "staticmethod", "overload") or text.endswith(".setter")


def makes_type(name: str, value: ast.expr) -> bool:
    """Whether an assignment makes a type variable, or another name of a type."""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) in ("TypeVar", "ParamSpec")
    is_type = isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp))
    return is_type and ast.unparse(value) != name


def annotation_any(name: str) -> ast.stmt:
    """The declaration of a name of which nothing is known."""
    return ast.parse(f"{name}: Any").body[0]
