"""A process: writes the exact states of bodies at rest on curved floors, for each of two methods."""

from __future__ import annotations

from curved_parts import BumpyFloor, SquareFloor
from kernel_parts import system_of

import cosim

system = system_of(a=SquareFloor(), b=BumpyFloor())
for method in ("bogacki_shampine", "radau5"):
    state = system.default_state()
    state["a.h"], state["b.h"] = 3.31, 3.4
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=1e-5)
    simulator.advance_to(1.0)
    print(method, simulator.statistics.steps, *(float(y).hex() for y in simulator.state.y))
    print(*(f"{finding.kind} {finding.witness} {finding.time.hex()}" for finding in simulator.findings))
