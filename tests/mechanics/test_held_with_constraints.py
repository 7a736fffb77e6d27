"""A witness that is held while constraints act: a pendulum comes to rest at a wall and slides along it."""

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody

WALL = 0.5  # m, the place of the wall along x


class Wall(cosim.Component):
    """A wall at x = 0.5 m without friction; half of the speed toward it comes back."""

    x = cosim.input(unit="m")

    @cosim.witness(direction="falling")
    def reached(x):
        return x - 0.5

    @cosim.on(reached, does="unrestricted")
    def bounce(self, state, next_state):
        speeds = np.array(state["bob_joint.u"])
        speeds[0] *= -0.5
        next_state["bob_joint.u"] = speeds


def simulator_of(start, **options):
    """Return a simulator of a bob on a rod that starts at a place."""
    model = Multibody("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("translation", child=bob, q=start)
    model.add("mechanics.rod", "rod", body1="ground", body2=bob, length=1.0)
    model.add(Wall, "wall")
    model.connect("bob.x", "wall.x")
    return cosim.Simulator(model.build(), **options)


@pytest.mark.parametrize(
    "options", [{"accuracy": 1e-7}, {"integrator": "integrators.dormand_prince", "accuracy": 1e-6}]
)
def test_a_bob_comes_to_rest_at_the_wall(options) -> None:
    simulator = simulator_of([1.0, 0.0, 0.0], **options)
    simulator.advance_to(3.0)
    assert [f.kind for f in simulator.findings] == ["zeno", "held"]
    assert len(simulator.events) < 60
    assert np.allclose(simulator.state["bob_joint.q"], [WALL, 0.0, -np.sqrt(0.75)], rtol=0.0, atol=1e-8)
    assert np.allclose(simulator.state["bob_joint.u"], 0.0, rtol=0.0, atol=1e-8)


def test_a_bob_slides_along_the_wall_like_a_plane_pendulum() -> None:
    simulator = simulator_of([0.55, 0.6, -np.sqrt(1.0 - 0.55**2 - 0.36)], accuracy=1e-7)
    simulator.advance_to(0.3)
    assert [f.kind for f in simulator.findings] == ["zeno", "held"]
    state = simulator.state
    energy = 0.5 * state.u @ state.u + 9.81 * state.q[2]
    # reference: a plane pendulum by its angle from below and the rate of it, with the leapfrog method
    radius = np.sqrt(0.75)
    start = np.array(
        [np.arctan2(state.q[1], -state.q[2]), (state.u[1] * -state.q[2] + state.u[2] * state.q[1]) / 0.75]
    )
    steps, step = 20_000, 2.0 / 20_000
    angle, rate = start
    for _ in range(steps):
        rate -= 0.5 * step * 9.81 / radius * np.sin(angle)
        angle += step * rate
        rate -= 0.5 * step * 9.81 / radius * np.sin(angle)
    simulator.advance_to(2.3)
    q, u = simulator.state.q, simulator.state.u
    assert abs(q[0] - WALL) < 1e-8
    assert abs(0.5 * u @ u + 9.81 * q[2] - energy) < 1e-5
    assert abs(np.arctan2(q[1], -q[2]) - angle) < 1e-5


def test_derivatives_after_an_impact_are_those_of_a_full_evaluation() -> None:
    derivatives, simulator = [], simulator_of([1.0, 0.0, 0.0], accuracy=1e-7)
    while simulator.state.time < 0.6:
        simulator.step(0.6)
        if simulator.has_pending_updates:
            simulator.advance_pending_events()
            state = simulator.state
            derivatives.append((state.y_dot.tobytes(), state.copy().realize().y_dot.tobytes()))
    assert derivatives and all(partial == full for partial, full in derivatives)
    assert 0 < simulator.statistics.partial_share <= simulator.statistics.partial_evaluations
