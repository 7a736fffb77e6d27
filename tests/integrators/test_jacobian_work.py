"""Old values in the work arrays do not change exact Jacobians.

The arrays are shared: while witnesses are held, they hold derivatives of another length.
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


def final_state(old_value: float) -> bytes:
    """Return the State at 2 s of a run that finds this value in its work arrays."""
    model = cosim.Model("m")
    model.add(Driven, "x")
    simulator = cosim.Simulator(model.build(), integrator="integrators.radau5", accuracy=1e-6)
    simulator.initialize()
    work = simulator._step.arrays.work
    system = simulator.system
    work[-(system.new_cache().size + 2) :] = old_value
    simulator.advance_to(2.0)
    return simulator.state.to_bytes()


def test_the_run_does_not_depend_on_old_values_in_the_work_arrays() -> None:
    assert final_state(1e3) == final_state(0.0)
