"""Evaluations inside steps omit velocities and accelerations of bodies that no derivative depends on."""

from __future__ import annotations

import math

import pytest

import cosim
from cosim_mechanics import Multibody

VELOCITIES, ACCELERATIONS = "dynamics: velocities of body origins", "dynamics: bodies"


def chain(kind: str) -> cosim.System:
    """Return links in space, "free", with a damper or with a rod that closes a loop."""
    model, parent = Multibody("chain", gravity=(0.1, -9.81, 0.2), dynamics="articulated_body"), "ground"
    for i in range(5):
        body = model.body(f"l{i}", mass=1.0 + i, center_of_mass=(0.01, -0.25, 0), inertia=(0.02, 0.03, 0.02))
        origin = (0, 0, 0) if i == 0 else (0, -0.5, 0)
        joint = "ball" if i == 2 else "pin"
        model.joint(joint, name=f"j{i}", child=body, parent=parent, frame_on_parent=origin)
        parent = body
    if kind == "damped":
        model.add("mechanics.two_point_damper", "damper", body1="l1", body2="l4", damping=0.4)
    if kind == "closed":
        points = {"point1": (0, -2.5, 0), "point2": (0, -0.5, 0)}
        model.constraint("rod", "rod", body1="ground", body2="l4", length=1e-3, **points)
    return model.build()


@pytest.mark.parametrize(
    ("kind", "omitted_labels"),
    [("free", {VELOCITIES, ACCELERATIONS}), ("damped", {ACCELERATIONS}), ("closed", set())],
)
def test_blocks_that_no_derivative_needs_are_omitted(kind: str, omitted_labels: set[str]) -> None:
    """With NaN in everything that omitted blocks write, derivatives are the same."""
    system = chain(kind)
    omitted = [i for i in range(*system.derivative_range) if i not in system.inner_blocks]
    labels = {system.blocks[i].label for i in omitted}
    assert labels & {VELOCITIES, ACCELERATIONS} == omitted_labels
    assert {VELOCITIES, ACCELERATIONS} <= {block.label for block in system.blocks}
    state = system.default_state().realize()
    c = system.arrays(state)[-1]
    for block in (system.blocks[i] for i in omitted):
        for slot in block.writes:
            c[slot.offset : slot.offset + slot.size] = math.nan
    expected = system.default_state()
    for changed_state in (state, expected):
        changed_state["j0.u"], changed_state["j4.q"] = 0.7, 0.3
        changed_state.set_time(0.3)
    assert system.walk(state, *system.inner_range) == 0
    assert c[: system.ny].tobytes() == expected.realize().y_dot.tobytes()


@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince_853", "radau5"])
def test_all_blocks_are_evaluated_at_the_ends_of_steps(method: str) -> None:
    runs = []
    for evaluates_all in (False, True):
        system = chain("free")
        if evaluates_all:
            vars(system)["inner_range"] = system.derivative_range
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6)
        simulator.state["j0.u"] = 0.7
        simulator.initialize()
        values = []
        for i in range(1, 6):
            simulator.advance_to(0.04 * i)
            state = simulator.state
            values += [state.to_bytes(), state["l4.V_GB"].tobytes(), state["l4.A_GB"].tobytes()]
        runs.append(values)
    assert runs[0] == runs[1]
