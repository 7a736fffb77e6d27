"""Derivatives of runs of multibody systems, against differences of runs and against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody

OFFSETS = (-2.0, -1.0, 1.0, 2.0)
"""In steps: where the runs of a difference of fourth order lie."""


def fourth_order(values: list[float], step: float) -> float:
    """The derivative at 0 of a function with these values at `OFFSETS` times `step`."""
    far_below, below, above, far_above = values
    return (8.0 * (above - below) - (far_above - far_below)) / (12.0 * step)


def chain() -> Multibody:
    """A bar on two rods that turn: a four-bar linkage."""
    model = Multibody("chain", gravity=(0, -9.81, 0))
    inertia = (1e-3, 1 / 12, 1 / 12)
    for i in range(2):
        model.body(f"rod{i}", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=inertia)
        model.joint("pin", name=f"pin{i}", child=f"rod{i}", frame_on_parent=(2.0 * i, 0, 0), q=1.2, u=-1.0)
    model.body("bar", mass=1.0, center_of_mass=(1.0, 0, 0), inertia=(1e-3, 1 / 3, 1 / 3))
    model.joint("pin", name="tip", child="bar", parent="rod0", frame_on_parent=(1, 0, 0), q=-1.2, u=1.0)
    model.constraint(
        "ball_constraint", "closure", body1="bar", body2="rod1", point1=(2, 0, 0), point2=(1, 0, 0)
    )
    return model


@pytest.mark.thorough
def test_a_closed_chain_against_differences_of_runs() -> None:
    """A mass changes the motion; a start value is made to meet the constraint first."""
    options = {"until": 0.4, "accuracy": 1e-10, "output_interval": 0.4, "signals": ["pin0.q", "pin0.u"]}
    by = ["rod0.mass", "pin0.u"]
    result = chain().simulate(derivatives=by, **options)
    system = chain().build()
    for path in by:
        runs = []
        for offset in OFFSETS:
            state = system.default_state()
            state[path] = state[path] + offset * 1e-3
            runs.append(cosim.simulate(system, state=state, **options))
        for signal in options["signals"]:
            expected = fourth_order([run[signal][-1] for run in runs], 1e-3)
            assert result.derivative(signal, path)[-1] == pytest.approx(expected, rel=1e-8)


def test_a_body_that_turns_freely() -> None:
    """A speed w_x about a principal axis is constant and turns the body by w_x t.

    Quaternions are normalized: the one of the joint is (cos(w_x t / 2), sin(w_x t / 2), 0, 0).
    """
    model = Multibody("free", gravity=(0, 0, 0))
    body = model.body("body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    model.joint("free", name="joint", child=body, u=[0.5, 0, 0, 0, 0, 0])
    result = model.simulate(until=2.0, derivatives=["joint.u[0]", "joint.q[0]"], accuracy=1e-10)
    by_speed = result.derivative("joint.q", "joint.u[0]")
    half_angle = 0.5 * 0.5 * result.time
    assert by_speed[:, 1] == pytest.approx(0.5 * result.time * np.cos(half_angle), abs=1e-8)
    assert (
        abs(result.derivative("joint.q", "joint.q[0]")).max() < 1e-12
    )  # the length of a quaternion has no effect


def test_a_mount_against_differences_of_runs() -> None:
    def mount(stiffness: float) -> cosim.Model:
        model = Multibody("mount", gravity=(0, 0, -9.81))
        body = model.body("engine", mass=120.0, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
        model.joint("free", child=body)
        rubber = {"stiffness": [2e3, 2e3, stiffness, 3e3, 3e3, 3e3], "damping": [20.0] * 6}
        model.add("mechanics.linear_bushing", "rubber", body1="ground", body2=body, **rubber)
        return model

    by = "rubber.stiffness[2]"
    options = {"until": 0.5, "accuracy": 1e-10, "output_interval": 0.25, "signals": ["engine.z"]}
    result = mount(2e3).simulate(derivatives=[by], **options)
    heights = [mount(2e3 + offset).simulate(**options)["engine.z"][-1] for offset in OFFSETS]
    expected = fourth_order(heights, 1.0)
    assert result.derivative("engine.z", by)[-1] == pytest.approx(expected, rel=1e-6)
