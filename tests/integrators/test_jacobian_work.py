"""Exact Jacobians are those of the states alone, whatever stood in the work arrays before.

While witnesses are held, numbers of another length stand there.
"""

from __future__ import annotations

import math

import cosim


class Driven(cosim.Component):
    """Two states that follow a signal whose size is a parameter."""

    near = cosim.auxiliary_state(start=1.0)
    far = cosim.auxiliary_state(start=-1.0)
    size = cosim.parameter(unit="1/s", default=30.0)

    @cosim.kernel
    def derivatives(t, near, far, size, near_dot, far_dot):
        near_dot[0] = size * (math.cos(3.0 * t) - near * near * near)
        far_dot[0] = size * (near - far)


def final_state(before: float) -> bytes:
    model = cosim.Model("m")
    model.add(Driven, "x")
    simulator = cosim.Simulator(model.build(), integrator="integrators.radau5", accuracy=1e-6)
    simulator.initialize()
    work = simulator._step.arrays.work
    system = simulator.system
    work[-(system.new_cache().size + 2) :] = before
    simulator.advance_to(2.0)
    return simulator.state.to_bytes()


def test_nothing_moves_but_the_states() -> None:
    assert final_state(1e3) == final_state(0.0)
