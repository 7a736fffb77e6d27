"""The adjoint of every kernel function of the product that has a tangent, compared with it, in plain Python.

Writes how many were compared, and what disagrees.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import corpus
import numpy as np

import cosim
from cosim.stage import Stage
from cosim.system.system_tangents import function_tangent
from cosim.testing import check_adjoints
from cosim_compiler.derivatives.tangents import NoTangentError

STATES = 2


def systems() -> Iterator[cosim.System]:
    """Each component with each of its options, each solver of motion, a constraint."""
    for model in corpus.models():
        yield model.build()
    for entry in cosim.registry().entries("dynamics_solver"):
        yield corpus.mechanism("corpus", dynamics=entry.id).build()
    model = corpus.mechanism("corpus")
    gear = cosim.registry().get("constraint", "mechanics.gear")
    model.add(gear(**corpus.values_of("mechanics.gear", gear)), "gear")
    yield model.build()


def is_followed(function: object) -> bool:
    """Whether a kernel function has a tangent."""
    try:
        function_tangent(function)
    except NoTangentError:
        return False
    return True


def rows_to_compare(system: cosim.System) -> list[int]:
    """The rows of functions that were not met as often as wanted."""
    rows = []
    for row in range(len(system.table)):
        try:
            function = system.tangents.function_of(row)
        except NoTangentError:
            continue  # plain Python
        if seen.get(function, 0) < STATES and is_followed(function):
            seen[function] = seen.get(function, 0) + 1
            rows.append(row)
    return rows


def compare(state: cosim.State, rows: list[int], seed: int) -> int:
    """Compare all together; one after the other where something is wrong."""
    try:
        return check_adjoints(state, rows, seed)
    except Exception as error:
        if len(rows) > 1:
            return sum(compare(state, [row], seed) for row in rows)
        if not isinstance(error, cosim.SimulationError):  # it raises on purpose: a check of parameters
            function = state.system.tangents.function_of(rows[0])
            faults.append(f"{function.__qualname__}: {type(error).__name__}: {error}")
        return 0


seen: dict[object, int] = {}
faults: list[str] = []
compared = 0
for seed, system in enumerate(systems()):
    rows = rows_to_compare(system)
    if rows:
        state = system.default_state()
        state.set_y(np.array(state.y) + 0.1 * np.cos(np.arange(system.ny)))
        compared += compare(state.realize(Stage.REPORT), rows, seed)
print(json.dumps({"functions": len(seen), "compared": compared, "faults": faults}))
