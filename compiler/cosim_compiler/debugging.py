"""Switches for an author who looks for a mistake.

``COSIM_DEBUG=1``: kernel functions run as plain Python, one call after the other, with bounds checked.
``COSIM_LINES=1``: machine code names the author's lines, for debuggers and profilers.
"""

from __future__ import annotations

import ast
import functools
import os

VARIABLE = "COSIM_DEBUG"
FOR_DEBUGGING = ("print", "breakpoint")


@functools.cache
def is_debugging() -> bool:
    """Whether ``COSIM_DEBUG`` was set when this process asked first."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


@functools.cache
def lines_are_shown() -> bool:
    """Whether ``COSIM_LINES`` was set when this process asked first."""
    return os.environ.get("COSIM_LINES", "0") not in ("", "0")


def is_for_debugging(node: ast.AST) -> bool:
    """Whether a statement calls print or a debugger, or imports one."""
    if isinstance(node, ast.Import):
        return all(alias.name == "pdb" for alias in node.names)
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return False
    called = ast.unparse(node.value.func)
    return called in FOR_DEBUGGING or called.startswith("pdb.")
