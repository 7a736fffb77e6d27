"""Addresses of blocks, for a row of the table that is walked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from cosim.walker import BLOCK_SIGNATURE
from cosim_compiler.ahead import compile_ahead
from cosim_compiler.first_calls import FirstCalls
from cosim_compiler.native import function_address, python_address

Block = Callable[..., None]
_is_seldom: ContextVar[bool] = ContextVar("cosim_seldom_evaluated", default=False)


@contextmanager
def seldom_evaluated() -> Iterator[None]:
    """Systems that are built inside are evaluated a few times: in plain Python, until that takes long."""
    token = _is_seldom.set(True)
    try:
        yield
    finally:
        _is_seldom.reset(token)


def addressing(blocks: Sequence[Block], owner: object) -> Callable[[Block], int]:
    """How the addresses of blocks of a system are found; they may be called as long as `owner` lives."""
    if _is_seldom.get():
        return FirstCalls(blocks, BLOCK_SIGNATURE, owner).address
    compile_ahead([(block, BLOCK_SIGNATURE) for block in blocks])
    return block_address


def block_address(block: Block) -> int:
    """The address of a block's machine code; in plain Python its key among the plain functions."""
    return function_address(block, BLOCK_SIGNATURE)


def python_block_address(block: Block) -> int:
    """An address that compiled code can call, for a block of plain Python; a walk stops where it raises."""
    return python_address(block, BLOCK_SIGNATURE)
