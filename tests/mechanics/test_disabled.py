"""Disabled force elements exert nothing, and their states do not change."""

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


def body_on_bushing(**bushing) -> cosim.System:
    """Return a body on a bushing that a force pushes; `bushing` are parameters."""
    model = Multibody("model", gravity=(0, 0, 0))
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


def test_an_element_disabled_in_one_state_is_enabled_in_another() -> None:
    system = body_on_bushing()
    enabled, disabled = system.default_state(), system.default_state()
    disabled["rubber.enabled"] = False
    for state in (enabled, disabled):
        state.realize(cosim.Stage.REPORT)
    assert enabled["body.A_GB"][3] == pytest.approx((1.0 - 50 * 0.1 - 0.1) / 2.0)
    assert disabled["body.A_GB"][3] == pytest.approx(0.5)
    assert disabled["rubber.potential_energy"] == 0.0
    assert enabled["rubber.potential_energy"] == pytest.approx(0.25)
    assert disabled["rubber.dissipated_energy_dot"] == 0.0
    assert not np.any(disabled["rubber.F_GM"])


def test_disabled_elements_in_plain_python() -> None:
    state = body_on_bushing(enabled=False).default_state()
    state["push.enabled"] = 0
    state.realize(cosim.Stage.ACCELERATION)
    assert not np.any(state["body.A_GB"])
    assert state["push.push"] == 0.0
    assert state["push.work_dot"] == 0.0


def test_elements_disabled_and_enabled_during_a_run() -> None:
    system = body_on_bushing()
    simulator = cosim.Simulator(system, accuracy=1e-9)
    simulator.advance_to(0.5)
    dissipated = simulator.state["rubber.dissipated_energy"]
    assert dissipated > 0.0
    speed = simulator.state["body.vx"]
    simulator.state["rubber.enabled"] = False
    simulator.state["push.enabled"] = False
    simulator.advance_to(1.0)
    assert simulator.state["rubber.dissipated_energy"] == dissipated
    assert simulator.state["body.vx"] == pytest.approx(speed, rel=1e-12)
    simulator.state["rubber.enabled"] = True
    simulator.advance_to(1.5)
    assert simulator.state["rubber.dissipated_energy"] > dissipated


def test_enabled_needs_0_or_1() -> None:
    with pytest.raises(cosim.ModelError, match="2.*switch, needs 1"):
        body_on_bushing(enabled=2)
