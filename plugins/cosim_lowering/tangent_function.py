"""The tangents of a system along a direction as one function, for hosts without Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import cosim
from cosim.kit import NoTangentError, block_tangent, run_source

TANGENTS = "lowered_tangents"
SIGNATURE = "FFFIFFFFFFFf>i"
LARGEST = 50_000
"""Integers in the rows of a system whose tangents are lowered: they become part of the function."""


def tangent_functions(system: cosim.System) -> dict[str, tuple[Callable[..., Any], str]]:
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
        first, count = (int(number) for number in system.table[row, 1:])
        lines.append(
            f"    tangent_{row}(t, y, p, d, k, h, c, INTS, {first}, {count}, "
            "time_dot[0], y_dot, p_dot, d_dot, h, c_dot)"
        )
    lines.append("    return 0")
    function = run_source("\n".join(lines) + "\n", space, "tangents of a system")["tangents"]
    return {TANGENTS: (function, SIGNATURE)}
