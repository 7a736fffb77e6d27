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


seen: dict[object, int] = {}
faults: list[str] = []
compared = 0
for system in systems():
    state = system.default_state()
    state.set_y(np.array(state.y) + 0.1 * np.cos(np.arange(system.ny)))
    state.realize(Stage.REPORT)
    for row in range(len(system.table)):
        try:
            function = system.tangents.function_of(row)
            if seen.get(function, 0) >= STATES:
                continue
            function_tangent(function)
        except NoTangentError:
            continue
        seen[function] = seen.get(function, 0) + 1
        try:
            compared += check_adjoints(state, [row], row)
        except cosim.SimulationError:
            continue  # it raises on purpose, such as a check of parameters
        except Exception as error:
            faults.append(f"{function.__qualname__}: {type(error).__name__}: {error}")
print(json.dumps({"functions": len(seen), "compared": compared, "faults": faults}))
