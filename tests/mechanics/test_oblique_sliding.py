"""Balls that slide obliquely: rounding moves their spin about the normal, which does not limit the step."""

from __future__ import annotations

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody, shapes

COUNT = 20


def speeds(state: cosim.State) -> np.ndarray:
    """Return the speeds along the floor of each ball."""
    return np.array([np.asarray(state[f"j{i}.u"])[3:5] for i in range(COUNT)])


def slide(integrator: str, is_oblique: bool, until: float) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the steps and the speeds at start and end, shape (COUNT, 2), of balls that slide on a floor."""
    random = np.random.default_rng(0)
    model = Multibody("slide")
    for i in range(COUNT):
        ball = model.body(f"b{i}", mass=1.0, inertia=(0.004,) * 3)
        place = [1, 0, 0, 0, 0.3 * (i % 10), 0.3 * (i // 10), 0.1 - 1e-6]
        model.joint("free", name=f"j{i}", child=ball, q=place)
    balls = {f"b{i}": shapes.Sphere(0.1) for i in range(COUNT)}
    floor = {"ground": shapes.HalfSpace()}
    model.collisions("heap", {**floor, **balls}, stiffness=1e7, restitution=0.5, friction=0.5)
    system = model.build()
    state = system.default_state()
    for i in range(COUNT):
        speed, angle = random.uniform(0.05, 0.2), random.uniform(0.0, 2.0 * np.pi)
        angle = angle if is_oblique else 0.0
        state[f"j{i}.u"] = [0.0, 0.0, 0.0, speed * np.cos(angle), speed * np.sin(angle), 0.0]
    start = speeds(state)
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{integrator}", accuracy=1e-5)
    simulator.advance_to(until)
    return int(simulator.statistics.integrator_steps), start, speeds(simulator.state)


@pytest.mark.by_turns
@pytest.mark.parametrize(
    "integrator",
    ["runge_kutta_merson", "tsitouras", "dormand_prince", "dormand_prince_853", "radau5", "esdirk43"],
)
def test_balls_that_slide_obliquely_take_as_many_steps_as_along_an_axis(integrator: str) -> None:
    steps_along_axis, _, _ = slide(integrator, False, 0.1)
    steps_oblique, start, end = slide(integrator, True, 0.1)
    assert steps_oblique < 1.3 * steps_along_axis + 10
    # they roll at the end; angular momentum about a point of the floor is kept
    assert np.abs(end - 5.0 / 7.0 * start).max() < 1e-6 * np.abs(start).max()
