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
"""Most integers of a system whose tangents are lowered, since they become part of the function."""

Functions = dict[str, tuple[Callable[..., Any], str]]


def tangent_functions(system: cosim.System) -> Functions:
    """The function that computes the tangents, by its name; nothing where a block has no tangent.

    ``lowered_tangents(y, p, d, k, h, c, y_dot, p_dot, d_dot, c_dot, time_dot, t)`` computes `c` and ``c_dot``
    from the other arrays; `time_dot` has one number. It returns 0.
    """
    rows = _lowered_rows(system)
    space: dict[str, Any] = {"INTS": np.asarray(system.ints, dtype=np.int64)}
    lines = ["def tangents(y, p, d, k, h, c, y_dot, p_dot, d_dot, c_dot, time_dot, t):"]
    try:
        for row, called in rows.items():
            space[f"tangent_{row}"] = block_tangent(system.blocks[row])
            lines.append(
                f"    tangent_{row}(t, y, p, d, k, h, c, INTS, {called.first}, {called.components}, "
                "time_dot[0], y_dot, p_dot, d_dot, h, c_dot)"
            )
    except NoTangentError:
        return {}
    if not rows:
        return {}
    lines.append("    return 0")
    function = run_source("\n".join(lines) + "\n", space, "tangents of a system")["tangents"]
    return {TANGENTS: (function, SIGNATURE)}


def adjoint_functions(system: cosim.System) -> Functions:
    """The function that computes the adjoints, by its name; nothing where a block has no adjoint.

    ``lowered_adjoints(y, p, d, k, h, c, y_dot, p_dot, d_dot, c_dot, y_bar, p_bar, d_bar, h_bar, c_bar,
    time_bar, tape, t)`` computes `c`, then goes back through the blocks from the adjoints of the cache in
    `c_bar`. The dots are a direction along which all varies; `h_bar` and `c_dot` are zeros. `time_bar` has
    two numbers, of which the first becomes the adjoint of the time. The second number of `tape` becomes 1
    where the tape is full. The function returns 0.
    """
    rows = _lowered_rows(system)
    space: dict[str, Any] = {"INTS": np.asarray(system.ints, dtype=np.int64)}
    bars = "y_bar, p_bar, d_bar, h_bar, c_bar"
    lines = [
        f"def adjoints(y, p, d, k, h, c, y_dot, p_dot, d_dot, c_dot, {bars}, time_bar, tape, t):",
        "    tape[0] = 2.0",
        "    tape[1] = 0.0",
    ]
    try:
        for row, called in rows.items():
            adjoint = function_adjoint(system.tangents.function_of(row))
            space[f"record_{row}"], space[f"reverse_{row}"] = adjoint.record, adjoint.reverse
            lines.append(
                f"    record_{row}(t, y, p, d, k, h, c, INTS, {called.first}, {called.components}, "
                "1.0, y_dot, p_dot, d_dot, h_bar, c_dot, 0, 0, 0, 0, 0, tape)"
            )
    except NoTangentError:
        return {}
    if not rows:
        return {}
    for row in reversed(rows):
        lines += [f"    reverse_{row}({bars}, tape, time_bar[1:])", "    time_bar[0] += time_bar[1]"]
    lines.append("    return 0")
    function = run_source("\n".join(lines) + "\n", space, "adjoints of a system")["adjoints"]
    return {ADJOINTS: (function, ADJOINT_SIGNATURE)}


def _lowered_rows(system: cosim.System) -> dict[int, BlockRow]:
    """The rows of an evaluation by their places in the table; none where a function would be too large."""
    if system.ints.size > LARGEST:
        return {}
    places = range(*system.block_range(cosim.Stage.TOPOLOGY, cosim.Stage.REPORT))
    return {place: BlockRow(*system.table[place].tolist()) for place in places}
