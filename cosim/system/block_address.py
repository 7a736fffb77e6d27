"""Addresses of blocks, for a row of the table that is walked."""

from __future__ import annotations

from collections.abc import Callable

from cosim.walker import BLOCK_SIGNATURE
from cosim_compiler.native import function_address, python_address

Block = Callable[..., None]


def block_address(block: Block) -> int:
    """The address of a block's machine code; in plain Python its key among the plain functions."""
    return function_address(block, BLOCK_SIGNATURE)


def python_block_address(block: Block) -> int:
    """An address that compiled code can call, for a block of plain Python; a walk stops where it raises."""
    return python_address(block, BLOCK_SIGNATURE)
