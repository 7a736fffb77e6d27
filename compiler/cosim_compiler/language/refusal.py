"""Refusals: file, line, the expression, and what to write instead."""

from __future__ import annotations

import ast
import types
from typing import NoReturn

from cosim_compiler.errors import ContractError

LONGEST_EXCERPT = 60
"""Characters of an expression that a sentence shows at most."""


def refuse(function: types.FunctionType, node: ast.AST | None, sentence: str) -> NoReturn:
    """Raise the error of an expression or a statement.

    Parameters
    ----------
    function : function
        The function that contains the node.
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
    return text if len(text) <= LONGEST_EXCERPT else f"{text[: LONGEST_EXCERPT - 2]} …"
