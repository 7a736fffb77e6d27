"""The tangents and the adjoints of a system as one function each, for hosts without Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import cosim
from cosim.kit import BlockRow, NoTangentError, block_tangent, function_adjoint, run_source

TANGENTS, ADJOINTS = "lowered_tangents", "lowered_adjoints"
SIGNATURE, ADJOINT_SIGNATURE = "FFFIFFFFFFFf>i", "FFFIFFFFFFFFFFFFFf>i"
LARGEST = 50_000
"""Integers in the rows of a system whose tangents are lowered: they become part of the function."""

Functions = dict[str, tuple[Callable[..., Any], str]]


def tangent_functions(system: cosim.System) -> Functions:
    """The function by its name; nothing where a block has no tangent.

    ``lowered_tangents(y, p, d, k, h, c, y_dot, p_dot, d_dot, c_dot, time_dot, t)`` computes `c` and ``c_dot``
    from the other arrays; `time_dot` has one number. It answers 0.
    """
    rows = range(*system.block_range(cosim.Stage.TOPOLOGY, cosim.Stage.REPORT))
    if system.ints.size > LARGEST or not len(rows):
        return {}
    space: dict[str, Any] = {"INTS": np.asarray(system.ints, dtype=np.int64)}
    lines = ["def tangents(y, p, d, k, h, c, y_dot, p_dot, d_dot, c_dot, time_dot, t):"]
    for row in rows:
        try:
            space[f"tangent_{row}"] = block_tangent(system.blocks[row])
        except NoTangentError:
            return {}
        called = BlockRow(*system.table[row].tolist())
        lines.append(
            f"    tangent_{row}(t, y, p, d, k, h, c, INTS, {called.first}, {called.components}, "
            "time_dot[0], y_dot, p_dot, d_dot, h, c_dot)"
        )
    lines.append("    return 0")
    function = run_source("\n".join(lines) + "\n", space, "tangents of a system")["tangents"]
    return {TANGENTS: (function, SIGNATURE)}


def adjoint_functions(system: cosim.System) -> Functions:
    """The adjoints by their name; nothing where a block has none.

    ``lowered_adjoints(y, p, d, k, h, c, y_dot, p_dot, d_dot, c_dot, y_bar, p_bar, d_bar, h_bar, c_bar,
    time_bar, tape, t)`` computes `c`, and goes back with the adjoints of the cache in `c_bar`. The dots are a
    direction along which all varies, `h_bar` and `c_dot` are zeros, `time_bar` has two numbers, of which the
    first is the answer. Where the tape is full its second number is 1. It answers 0.
    """
    rows = range(*system.block_range(cosim.Stage.TOPOLOGY, cosim.Stage.REPORT))
    if system.ints.size > LARGEST or not len(rows):
        return {}
    space: dict[str, Any] = {"INTS": np.asarray(system.ints, dtype=np.int64)}
    bars = "y_bar, p_bar, d_bar, h_bar, c_bar"
    lines = [
        f"def adjoints(y, p, d, k, h, c, y_dot, p_dot, d_dot, c_dot, {bars}, time_bar, tape, t):",
        "    tape[0] = 2.0",
        "    tape[1] = 0.0",
    ]
    back = []
    for row in rows:
        try:
            adjoint = function_adjoint(system.tangents.function_of(row))
        except NoTangentError:
            return {}
        space[f"record_{row}"], space[f"reverse_{row}"] = adjoint.record, adjoint.reverse
        called = BlockRow(*system.table[row].tolist())
        lines.append(
            f"    record_{row}(t, y, p, d, k, h, c, INTS, {called.first}, {called.components}, "
            "1.0, y_dot, p_dot, d_dot, h_bar, c_dot, 0, 0, 0, 0, 0, tape)"
        )
        back.append([f"    reverse_{row}({bars}, tape, time_bar[1:])", "    time_bar[0] += time_bar[1]"])
    lines += [line for pair in reversed(back) for line in pair]
    lines.append("    return 0")
    function = run_source("\n".join(lines) + "\n", space, "adjoints of a system")["adjoints"]
    return {ADJOINTS: (function, ADJOINT_SIGNATURE)}
