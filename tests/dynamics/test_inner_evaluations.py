"""Evaluations inside steps leave out what bodies do at their origins, where no derivative needs it."""

from __future__ import annotations

import math

import pytest

import cosim
from cosim_mechanics import Multibody

VELOCITIES, ACCELERATIONS = "dynamics: velocities of body origins", "dynamics: bodies"


def chain(kind: str) -> cosim.System:
    """Links in space, which the recursion over articulated bodies solves."""
    model, parent = Multibody("chain", gravity=(0.1, -9.81, 0.2), dynamics="articulated_body"), "ground"
    for i in range(5):
        body = model.body(f"l{i}", mass=1.0 + i, center_of_mass=(0.01, -0.25, 0), inertia=(0.02, 0.03, 0.02))
        at = (0, 0, 0) if i == 0 else (0, -0.5, 0)
        joint = "ball" if i == 2 else "pin"
        model.joint(joint, name=f"j{i}", child=body, parent=parent, frame_on_parent=at)
        parent = body
    if kind == "damped":
        model.add("mechanics.two_point_damper", "damper", body1="l1", body2="l4", damping=0.4)
    if kind == "closed":
        at = {"point1": (0, -2.5, 0), "point2": (0, -0.5, 0)}
        model.constraint("rod", "rod", body1="ground", body2="l4", length=1e-3, **at)
    return model.build()


@pytest.mark.parametrize(
    ("kind", "left_out"),
    [("free", {VELOCITIES, ACCELERATIONS}), ("damped", {ACCELERATIONS}), ("closed", set())],
)
def test_what_no_derivative_needs_is_left_out(kind: str, left_out: set[str]) -> None:
    system = chain(kind)
    omitted = [i for i in range(*system.derivative_range) if i not in system.inner_blocks]
    labels = {system.blocks[i].label for i in omitted}
    assert labels & {VELOCITIES, ACCELERATIONS} == left_out
    assert {VELOCITIES, ACCELERATIONS} <= {block.label for block in system.blocks}
    state = system.default_state().realize()
    c = system.arrays(state)[-1]
    for block in (system.blocks[i] for i in omitted):
        for slot in block.writes:
            c[slot.offset : slot.offset + slot.size] = math.nan
    expected = system.default_state()
    for each in (state, expected):
        each["j0.u"], each["j4.q"] = 0.7, 0.3
        each.set_time(0.3)
    assert system.walk(state, *system.inner_range) == 0
    assert c[: system.ny].tobytes() == expected.realize().y_dot.tobytes()


@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince_853", "radau5"])
def test_where_a_step_ends_everything_is_computed(method: str) -> None:
    found = []
    for everywhere in (False, True):
        system = chain("free")
        if everywhere:
            vars(system)["inner_range"] = system.derivative_range
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6)
        simulator.state["j0.u"] = 0.7
        simulator.initialize()
        values = []
        for i in range(1, 6):
            simulator.advance_to(0.04 * i)
            state = simulator.state
            values += [state.to_bytes(), state["l4.V_GB"].tobytes(), state["l4.A_GB"].tobytes()]
        found.append(values)
    assert found[0] == found[1]
