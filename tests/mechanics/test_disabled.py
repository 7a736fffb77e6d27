"""Force elements that are turned off contribute nothing, and stand still."""

from __future__ import annotations

import numpy as np
import pytest

import cosim
import cosim_mechanics
from cosim_mechanics import Multibody


class PushInPython(cosim_mechanics.ForceElement):
    """Pushes body 2 with one newton along x, in plain Python."""

    work = cosim.auxiliary_state(unit="J")
    push = cosim.cache_slot(unit="N")

    def force(self, V_GB2, F_GB2, push, work_dot):
        push[0] = 1.0
        F_GB2[3] += 1.0
        work_dot[0] = V_GB2[3]


def hung(**bushing) -> cosim.System:
    model = Multibody("hung", gravity=(0, 0, 0))
    body = model.body("body", mass=2.0, inertia=(1, 1, 1))
    model.joint("free", child=body, u=[0, 0, 0, 1.0, 0, 0], q=[1, 0, 0, 0, 0.1, 0, 0])
    model.add(
        "mechanics.linear_bushing",
        "rubber",
        body1="ground",
        body2=body,
        stiffness=[1, 1, 1, 50, 50, 50],
        damping=[0.1] * 6,
        **bushing,
    )
    model.add(PushInPython, "push", body1="ground", body2=body)
    return model.build()


def test_off_in_one_state_and_on_in_another() -> None:
    system = hung()
    on, off = system.default_state(), system.default_state()
    off["rubber.enabled"] = False
    for state in (on, off):
        state.realize(cosim.Stage.REPORT)
    assert on["body.A_GB"][3] == pytest.approx((1.0 - 50 * 0.1 - 0.1) / 2.0)
    assert off["body.A_GB"][3] == pytest.approx(0.5)
    assert off["rubber.potential_energy"] == 0.0
    assert on["rubber.potential_energy"] == pytest.approx(0.25)
    assert off["rubber.dissipated_energy_dot"] == 0.0
    assert not np.any(off["rubber.F_GM"])


def test_a_plain_python_element_too() -> None:
    state = hung(enabled=False).default_state()
    state["push.enabled"] = 0
    state.realize(cosim.Stage.ACCELERATION)
    assert not np.any(state["body.A_GB"])
    assert state["push.push"] == 0.0
    assert state["push.work_dot"] == 0.0


def test_turned_off_in_the_middle_of_a_run() -> None:
    system = hung()
    simulator = cosim.Simulator(system, accuracy=1e-9)
    simulator.advance_to(0.5)
    lost = simulator.state["rubber.dissipated_energy"]
    assert lost > 0.0
    speed = simulator.state["body.vx"]
    simulator.state["rubber.enabled"] = False
    simulator.state["push.enabled"] = False
    simulator.advance_to(1.0)
    assert simulator.state["rubber.dissipated_energy"] == lost
    assert simulator.state["body.vx"] == pytest.approx(speed, rel=1e-12)
    simulator.state["rubber.enabled"] = True
    simulator.advance_to(1.5)
    assert simulator.state["rubber.dissipated_energy"] > lost


def test_what_is_no_switch_is_refused() -> None:
    with pytest.raises(cosim.ModelError, match="2.*switch, needs 1"):
        hung(enabled=2)
