"""Bushings: evaluations on demand, angles near their limits, contributions, energy, stiffness matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim_mechanics import CoupledBushing, LinearBushing, Multibody
from cosim_mechanics.spatial import angles_123 as angles
from cosim_mechanics.spatial import compose, position, put6, put12
from cosim_mechanics.spatial import compose_inverse as relative

HALF = np.random.default_rng(7).normal(size=(6, 6))
SCALE = np.diag([3.0] * 3 + [20.0] * 3)
FULL = SCALE @ (HALF @ HALF.T + 2.0 * np.eye(6)) @ SCALE
SKEW = np.triu(np.ones((6, 6)), 1) - np.tril(np.ones((6, 6)), -1)


class CountingBushing(LinearBushing):
    """Counts its evaluations in slots that keep their values. Law: as `LinearBushing`."""

    not_saved = "it counts its evaluations"
    poses = cosim.cache_slot()
    forces = cosim.cache_slot()

    @cosim.kernel
    def pose(X_GB1, X_GB2, frame_on_body1, frame_on_body2, X_GF, X_GM, X_FM, q, poses):
        poses[0] = poses[0] + 1.0
        put12(X_GF, compose(X_GB1, frame_on_body1))
        put12(X_GM, compose(X_GB2, frame_on_body2))
        X = relative(X_GF, X_GM)
        put12(X_FM, X)
        put6(q, angles(X), position(X))

    @cosim.kernel
    def count(qdot, forces):
        forces[0] = forces[0] + 1.0 + 0.0 * qdot[0]


def spinning(
    kind=LinearBushing, axis: int = 0, speed: float = 4.0, angle: float = 0.0, **values
) -> cosim.System:
    """Return a body at Ground's origin that turns about one axis, on a soft bushing."""
    model = Multibody("spinning", gravity=(0, 0, 0))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    q, u = np.zeros(6), np.zeros(6)
    q[axis], u[axis] = angle, speed
    model.joint("bushing", child=body, q=q, u=u, name="joint")
    parameters = {"stiffness": [0.01] * 6, "damping": [0.0] * 6} | values
    model.add(kind, "mount", body1="ground", body2=body, **parameters)
    return model.build()


def swinging(kind: str, **values) -> Multibody:
    """Return a stiff oscillator in all six directions, without gravity."""
    model = Multibody("swinging", gravity=(0, 0, 0))
    body = model.body("body", mass=2.0, inertia=(0.1, 0.2, 0.25), center_of_mass=(0.01, 0.02, 0.1))
    model.joint("free", child=body, u=(0.5, -0.4, 0.3, 0.3, 0.2, -0.4))
    model.add(
        kind,
        "mount",
        body1="ground",
        body2=body,
        frame_on_body1=(0.1, 0, 0),
        frame_on_body2=(0.1, 0, 0),
        **values,
    )
    return model


def turning_over(kind, stiffness) -> cosim.System:
    """Return a free body that turns about y, fast enough to pass 90 degrees."""
    model = Multibody("turning_over", gravity=(0, 0, 0))
    model.body("body", mass=2.0, inertia=(0.02, 0.03, 0.025))
    model.joint("free", name="joint", child="body", u=(0.0, 120.0, 0.0, 0.0, 0.0, 0.0))
    values = np.diag(stiffness) if kind is CoupledBushing else stiffness
    damping = np.zeros((6, 6)) if kind is CoupledBushing else np.zeros(6)
    model.add(kind, "mount", body1="ground", body2="body", stiffness=values, damping=damping)
    return model.build()


def test_each_quantity_is_computed_once_for_each_change() -> None:
    state = spinning(CountingBushing).default_state()

    def counts() -> tuple[float, float]:
        state.realize(cosim.Stage.ACCELERATION)
        return state["mount.poses"], state["mount.forces"]

    assert counts() == (1.0, 1.0)
    state["mount.X_FM"], state["mount.q"], state["mount.F_GM"], state.realize(cosim.Stage.REPORT)
    assert counts() == (1.0, 1.0)
    state["joint.u"] = np.ones(6)
    assert counts() == (1.0, 2.0)
    state["mount.dissipated_energy"] = 3.0
    assert counts() == (1.0, 2.0)
    state["joint.q"] = 0.1 * np.ones(6)
    assert counts() == (2.0, 3.0)
    state["mount.stiffness"] = np.ones(6)
    assert counts() == (3.0, 4.0)


def test_an_angle_near_90_degrees_is_a_finding_with_the_element() -> None:
    simulator = cosim.Simulator(spinning(axis=1, speed=1.0), accuracy=1e-6)
    simulator.advance_to(1.0)
    assert simulator.findings == []
    assert simulator.state["mount.status"] == 0.0
    simulator.advance_to(1.5)
    (finding,) = simulator.findings
    assert finding.witness == "mount.status"
    assert "6 degrees of +-90 degrees" in finding.message
    assert simulator.state["mount.status"] == 1.0
    assert math.cos(simulator.state["mount.q[1]"]) > 0.01  # the finding comes before the moments get wrong


def test_a_bushing_without_moments_has_no_finding() -> None:
    free = {"stiffness": [0, 0, 0, 1, 1, 1]}
    for axis in (0, 1):
        simulator = cosim.Simulator(spinning(axis=axis, speed=7.0, **free), accuracy=1e-6)
        simulator.advance_to(1.0)
        assert simulator.findings == []


@pytest.mark.by_turns
@pytest.mark.parametrize("kind", [LinearBushing, CoupledBushing])
@pytest.mark.parametrize(("axis", "speed"), [(0, 4.0), (2, -4.0)])
def test_a_turn_by_180_degrees_stops_the_run(kind, axis, speed) -> None:
    system = spinning(kind, axis, speed)
    simulator = cosim.Simulator(system, accuracy=1e-6)
    with pytest.raises(cosim.SimulationError, match=r"mount.*jumped by 360 degrees") as of_simulator:
        simulator.advance_to(2.0)
    assert of_simulator.value.time == pytest.approx(math.pi / 4.0, abs=0.2)
    with pytest.raises(cosim.SimulationError, match="mount") as of_simulate:
        system.model.simulate(until=2.0)
    assert of_simulate.value.result["joint.q"][-1][axis] * speed > 0.0


def test_a_coordinate_that_is_set_does_not_count_as_a_turn() -> None:
    system = spinning(speed=0.0, angle=3.0)
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.advance_to(0.1)
    simulator.state["joint.q"] = [-3.0, 0, 0, 0, 0, 0]
    simulator.advance_to(0.2)
    simulator.state["joint.q"] = [3.0, 0, 0, 0, 0, 0]
    simulator.initialize()
    simulator.advance_to(0.3)
    assert simulator.state["mount.q[0]"] == pytest.approx(3.0, abs=0.01)


def test_the_dissipated_energy_can_be_set() -> None:
    state = spinning(dissipated_energy=2.0).default_state()
    assert state["mount.dissipated_energy"] == 2.0
    state["mount.dissipated_energy"] = "3 kJ"
    assert state.realize(cosim.Stage.REPORT)["energy.dissipated"] == 0.0 + 3000.0
    with pytest.raises(cosim.StateError, match=r"mount.dissipated_energy.*at least 0"):
        state["mount.dissipated_energy"] = -1.0
    with pytest.raises(cosim.ModelError, match="at least 0"):
        spinning(dissipated_energy=-1.0)


def test_a_disabled_bushing_may_turn() -> None:
    simulator = cosim.Simulator(spinning(enabled=False), accuracy=1e-6)
    simulator.advance_to(2.0)
    assert simulator.state["mount.dissipated_energy"] == 0.0


def test_the_contributions_of_single_elements() -> None:
    model = Multibody("two")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.joint("free", child=body, q=[1, 0, 0, 0, 0.1, 0.2, 0.3], u=[0.1] * 6)
    for name, factor in (("one", 1.0), ("other", 3.0)):
        model.add(
            "mechanics.linear_bushing", name, body1="ground", body2=body,
            stiffness=factor * np.arange(1.0, 7.0), damping=[0.1] * 6,
        )  # fmt: skip
    system = model.build()
    state = system.default_state()
    soft, stiff, gravity = (system.parts[name] for name in ("one", "other", "gravity"))
    contribution = soft.force_contribution(state)
    assert set(contribution.bodies) == {"ground", "body"} and contribution.coordinates == {}
    np.testing.assert_allclose(contribution.bodies["body"][3:], [-0.41, -1.01, -1.81])
    total = sum(part.force_contribution(state).bodies["body"] for part in (soft, stiff, gravity))
    np.testing.assert_allclose(total, state["body.F_GB"], rtol=1e-14)
    assert soft.potential_energy_contribution(state) == pytest.approx(0.5 * (0.04 + 0.2 + 0.54))
    assert stiff.potential_energy_contribution(state) == 3.0 * soft.potential_energy_contribution(state)
    state["one.enabled"] = False
    assert not np.any(soft.force_contribution(state).bodies["body"])
    assert soft.potential_energy_contribution(state) == 0.0
    with pytest.raises(cosim.LookUpError, match="State's system"):
        LinearBushing(stiffness=[1] * 6, damping=[0] * 6).force_contribution(state)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (
            "mechanics.linear_bushing",
            {"stiffness": [10, 12, 14, 800, 900, 700], "damping": [0.1] * 3 + [2] * 3},
        ),
        ("mechanics.coupled_bushing", {"stiffness": FULL}),
        ("mechanics.coupled_bushing", {"stiffness": FULL, "damping": 0.01 * FULL + 0.1 * SKEW}),
        ("mechanics.coupled_bushing", {"stiffness": FULL, "preload": (1, 0, -1, 10, -20, 5)}),
        ("mechanics.coupled_bushing", {"stiffness": FULL, "neutral": (0.1, 0, -0.1, 0.02, 0, 0.01)}),
    ],
)
def test_the_energy_balance_has_nine_digits(kind, values) -> None:
    result = swinging(kind, **values).simulate(until=2.0, accuracy=1e-11, output_interval=0.05)
    exchanged = np.ptp(result["energy.potential"]) + np.ptp(result["energy.kinetic"])
    assert np.abs(result["energy.residual"]).max() < 1e-9 * exchanged
    assert exchanged > 0.1


def test_a_diagonal_coupled_bushing_is_the_linear_one() -> None:
    values = {"stiffness": [10, 12, 14, 800, 900, 700], "damping": [0.1] * 3 + [2] * 3}
    linear, coupled = (
        swinging(kind, **values).build().default_state().realize()
        for kind in ("mechanics.linear_bushing", "mechanics.coupled_bushing")
    )
    np.testing.assert_allclose(linear["body.A_GB"], coupled["body.A_GB"], rtol=1e-13)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"stiffness": np.eye(6) + np.triu(np.ones((6, 6)))},
            "not symmetric, so its forces have no potential",
        ),
        ({"stiffness": -np.eye(6)}, "not positive semidefinite"),
        ({"stiffness": np.ones((6, 6)) - 0.5 * np.eye(6)}, "not positive semidefinite"),
        ({"stiffness": np.eye(6), "damping": np.diag([1, 1, 1, -1, 1, 1])}, "not positive semidefinite"),
        ({"stiffness": [1, 2]}, "is not a matrix"),
        ({"stiffness": 3.0}, "is not a matrix"),
    ],
)
def test_matrices_that_create_energy_are_refused(values, message) -> None:
    with pytest.raises(cosim.CosimError, match=message):
        swinging("mechanics.coupled_bushing", **values).build().default_state().realize()


def test_a_singular_stiffness_is_valid() -> None:
    singular = np.outer(np.arange(6.0), np.arange(6.0))
    swinging("mechanics.coupled_bushing", stiffness=singular).build().default_state().realize()


@pytest.mark.parametrize("kind", [LinearBushing, CoupledBushing])
def test_a_middle_angle_that_passes_90_degrees_in_a_step_stops_the_run(kind) -> None:
    """The moments of the other two angles cancel there, so error control sees nothing."""
    simulator = cosim.Simulator(turning_over(kind, [50.0, 50.0, 50.0, 1e5, 1e5, 1e5]), accuracy=1e-6)
    with pytest.raises(cosim.SimulationError, match=r"mount.*passed \+-90 degrees within"):
        simulator.advance_to(0.05)
    assert simulator.state.time == pytest.approx(0.0138, abs=1e-4)


def test_a_bushing_that_only_holds_the_middle_angle_may_pass_90_degrees() -> None:
    simulator = cosim.Simulator(turning_over(LinearBushing, [0.0, 50.0, 0.0, 1e5, 1e5, 1e5]), accuracy=1e-8)
    simulator.advance_to(0.05)
    assert abs(simulator.state.realize(cosim.Stage.REPORT)["energy.residual"]) < 1e-4
