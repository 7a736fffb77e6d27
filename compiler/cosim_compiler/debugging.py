"""Switches for who looks for a mistake.

``COSIM_DEBUG=1``: kernel functions run as plain Python, one call after the other, with bounds checked.
``COSIM_LINES=1``: machine code knows the author's lines.
"""

from __future__ import annotations

import ast
import functools
import os

VARIABLE = "COSIM_DEBUG"
FOR_DEBUGGING = ("print", "breakpoint")


@functools.cache
def is_debugging() -> bool:
    """Whether the environment asks for it when this process looks for the first time."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


@functools.cache
def lines_are_shown() -> bool:
    """Whether the environment asks for lines when this process looks first."""
    return os.environ.get("COSIM_LINES", "0") not in ("", "0")


def is_for_debugging(node: ast.AST) -> bool:
    """Whether it is a call of print or of a debugger, or the import of one."""
    if isinstance(node, ast.Import):
        return all(alias.name == "pdb" for alias in node.names)
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return False
    called = ast.unparse(node.value.func)
    return called in FOR_DEBUGGING or called.startswith("pdb.")
