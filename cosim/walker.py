"""Walking the schedule: the one loop that evaluates any system.

The table has a row *(address, first, count)* for each block. In compiled code the address is that of
machine code; in plain Python it is the key of the block in `plain_blocks`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Block = Callable[..., None]

plain_blocks: dict[int, Block] = {}
compounds: dict[str, tuple[type, str]] = {}  # named tuples, by the letter that stands for them in signatures
optional_parts: list[str] = []  # names of parts that are called through a table of addresses, in its order
last_errors: list[BaseException] = []


def call_block(address, t, y, p, d, k, h, c, ints, first, count):
    """Call one block; 0 when it returned, 1 when it raised (kept in `last_errors`).

    This is the plain Python form; `cosim_compiler.native` replaces it by an indirect call.
    """
    try:
        # as numpy's number: in plain Python too, 1 / 0 is infinite
        plain_blocks[address](np.float64(t), y, p, d, k, h, c, ints, first, count)
    except Exception as error:
        last_errors[:] = [error]
        return 1
    return 0


def walk(table, ints, first, last, t, y, p, d, k, h, c):
    """Call the blocks `first` … `last` - 1 in order.

    Returns
    -------
    int
        0, or 1 + the index of the block that raised; the walk stops there.
    """
    for i in range(first, last):
        if call_block(table[i, 0], t, y, p, d, k, h, c, ints, table[i, 1], table[i, 2]) != 0:
            return i + 1
    return 0


def repeat_walk(table, ints, first, last, t, y, p, d, k, h, c, times):
    """Walk the same blocks many times (for benchmarks)."""
    status = 0
    for _ in range(times):
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
    return status


def call_step(address, arguments):
    """Take a step of the integrator whose compiled step is at that address; its code.

    `arguments` is the tuple *(table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory,
    work, slots, t_stop, limit)*; see `cosim.contracts.method_layout`.
    """
    return plain_blocks[address](*arguments)


def call_redo(address, arguments):
    """Call what has the signature of a step that is taken again; `arguments` lacks the last two of a step."""
    return plain_blocks[address](*arguments)


def call_dense(address, arguments):
    """Call the dense output at that address; `arguments` is the tuple *(t, coefficients, work, y, out)*."""
    plain_blocks[address](*arguments)


def call_python(address, arguments):
    """Call back into Python: a function of one integer that answers with one."""
    return plain_blocks[address](*arguments)


def spelled(signature: str) -> str:
    """A signature in which letters of named tuples are followed by those of their members."""
    if compounds.keys().isdisjoint(signature):
        return signature
    return "".join(
        f"{letter}({compounds[letter][1]})" if letter in compounds else letter for letter in signature
    )


def plain_address(block: Any) -> int:
    """The address of a block when nothing is compiled."""
    plain_blocks[id(block)] = block
    return id(block)


BLOCK_SIGNATURE = "fFFFIFFIii>v"
STEP_SIGNATURE = "TIiifFFFIFFFFFFIff>i"
REDO_SIGNATURE = "TIiifFFFIFFFFFFI>i"
DENSE_SIGNATURE = "fFFFF>v"
WALK_SIGNATURE = "TIiifFFFIFF>i"
PYTHON_SIGNATURE = "i>i"
REPEAT_SIGNATURE = "TIiifFFFIFFi>i"

# Compiled, these are indirect calls of what has that signature.
call_step.__dict__["__indirect__"] = STEP_SIGNATURE
call_redo.__dict__["__indirect__"] = REDO_SIGNATURE
call_dense.__dict__["__indirect__"] = DENSE_SIGNATURE
call_python.__dict__["__indirect__"] = PYTHON_SIGNATURE
