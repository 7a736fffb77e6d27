"""Compiled kernel functions and plain Python give the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import cosim
from cosim_mechanics import Multibody
from large_mechanisms import ladder
frame = (0.2, 0.1, 0.4)
star, line = ("base",) * 3, ("base", "b0", "b1")
matrix, recursion = "dynamics.composite_rigid_body", "dynamics.articulated_body"
for solver, parents in (matrix, star), (matrix, line), (recursion, star):
    model = Multibody("robot")
    model.settings["dynamics"] = solver
    inertia = (2.0, 3.0, 4.0, 0.1, 0.2, -0.1)
    model.body("base", mass=50.0, center_of_mass=(0.1, 0.2, -0.1), inertia=inertia)
    q = (0.9, 0.1, -0.3, 0.2, 1.0, 2.0, 3.0)
    model.joint("free", child="base", u=(0.3, -0.2, 0.5, 1.0, 2.0, 3.0), q=q)
    for i, kind in enumerate(["pin", "slider", "pin"]):
        model.body(f"b{i}", mass=5.0, center_of_mass=(0.0, 0.1, 0.5), inertia=(0.4, 0.4, 0.1))
        model.joint(kind, child=f"b{i}", parent=parents[i], frame_on_parent=frame, q=0.4, u=1.7)
    print(model.build().default_state().realize(cosim.Stage.ACCELERATION).y_dot.tobytes().hex())
simulator = cosim.Simulator(ladder(35).build(), integrator="integrators.explicit_euler", fixed_step=1e-3)
assert "along the tree" in simulator.system.dynamics
simulator.initialize()
simulator.advance_to(0.001)
print(simulator.state.y.tobytes().hex())
"""


def output(**environment: str) -> str:
    variables = {**os.environ, **environment, "PYTHONPATH": str(Path(__file__).parent)}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=variables, capture_output=True, text=True, check=True
    )
    return run.stdout


def test_both_ways_give_the_same_bytes():
    compiled, plain = output(COSIM_PLAIN="0"), output(COSIM_PLAIN="1")
    assert len(compiled.split()) == 4
    assert compiled == plain
