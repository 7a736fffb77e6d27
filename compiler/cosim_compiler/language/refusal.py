"""Refusals: file, line, the expression, and what to write instead."""

from __future__ import annotations

import ast
import types
from typing import NoReturn

from cosim_compiler.errors import ContractError

SHOWN = 60
"""Letters of an expression that a sentence shows."""


def refuse(function: types.FunctionType, node: ast.AST | None, sentence: str) -> NoReturn:
    """Raise the error of an expression or a statement.

    Parameters
    ----------
    function : function
        In which it stands.
    node : ast.AST or None
        The function as a whole where there is none.
    sentence : str
        What is wrong, and what to write.

    Raises
    ------
    ContractError
    """
    code = function.__code__
    line = getattr(node, "lineno", code.co_firstlineno)
    shown = "" if node is None else f"`{shortened(node)}`: "
    raise ContractError(f"{code.co_filename}:{line}: cannot be compiled: {shown}{sentence}")


def shortened(node: ast.AST) -> str:
    """The text of an expression, or the first line of a statement."""
    text = ast.unparse(node).split("\n")[0]
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]} …"
