"""Boxes and balls with random masses, moduli, frictions, loads and integrators move by Coulomb's law."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from contact_formulas import GRAVITY, hertz_depth, mindlin_stiffness

from cosim_mechanics import Multibody, shapes

METHODS = ("runge_kutta_merson", "dormand_prince", "radau5", "bdf")


def coulomb(accelerations: np.ndarray, share: float, static: float, dynamic: float) -> tuple[float, float]:
    """Return the speed at the end and the largest one under loads by Coulomb's law; all forces are per mass.

    A load accelerates body and surface alike; friction accelerates the surface 1 / share times as much. The
    share is 2/7 for a ball and 1 for a box.
    """
    step = 1.0 / len(accelerations)
    slip = speed = largest = 0.0
    for load in accelerations.tolist():
        if slip == 0.0 and abs(load) * share <= static:
            friction = load * share
        else:
            friction = math.copysign(dynamic, slip if slip != 0.0 else load)
            after = slip + (load - friction / share) * step
            slip = after if after * friction > 0.0 else 0.0
        speed += (load - friction) * step
        largest = max(largest, abs(speed))
    return speed, largest


@pytest.mark.by_turns
@pytest.mark.parametrize("seed", range(30))
def test_boxes_and_balls_under_random_loads(seed: int) -> None:
    """Pulses, ramps, jumps and sines; slopes up to 0.98 of the cone; masses of 1 mg to 1,000 t.

    Pulses last at least 12 time constants of the bristles, since elastic surfaces give way to shorter ones.
    """
    chance = random.Random(seed)
    is_ball = seed % 2 == 1
    share = 2.0 / 7.0 if is_ball else 1.0
    mass = 10.0 ** chance.uniform(-6.0, 6.0)
    modulus = 10.0 ** chance.uniform(max(5.0, 4.0 + math.log10(mass)), 11.0)
    static = chance.choice([0.05, 0.2, 0.5, 0.8])
    dynamic = static * chance.choice([1.0, 0.95, 0.8, 0.5, 0.1])
    slope = 0.0 if is_ball else math.atan(static * chance.choice([0.0, 0.5, 0.9, 0.98]))
    normal, along = GRAVITY * math.cos(slope), GRAVITY * math.sin(slope)

    # a size at which the contacts are not deeper than a few percent of their radius
    points = 1 if is_ball else 4
    radius = max(0.1 * mass ** (1 / 3) / points**2, math.sqrt(75.0 * mass * normal / (points * modulus)))
    depth = hertz_depth(mass * normal / points, modulus, radius)
    stiffness = points * mindlin_stiffness(modulus, radius, depth)
    constant = math.sqrt(mass * share / stiffness)
    model = Multibody("random", gravity=(along, 0, -normal))
    law: dict[str, Any] = {
        "stiffness": modulus, "restitution": 0.5, "static_friction": static, "dynamic_friction": dynamic,
    }  # fmt: skip
    if is_ball:
        body = model.body("body", mass=mass, inertia=(0.4 * mass * radius**2,) * 3)
        model.joint("free", child=body, q=[1, 0, 0, 0, 0, 0, radius - depth])
        model.add("mechanics.sphere_contact", "floor", body1="ground", body2=body, radius=radius, **law)
    else:
        edge = 20.0 * radius
        tilt, turn = 0.0885 * mass * edge**2, mass * edge**2 / 6.0
        body = model.body("body", mass=mass, inertia=(tilt, tilt, turn))
        model.joint("free", child=body, q=[1, 0, 0, 0, 0, 0, 0.125 * edge - depth])
        box = shapes.Box((edge, edge, 0.25 * edge), radius)
        model.shape_contacts("floor", "ground", shapes.HalfSpace(), body, box, **law)

    # a pulse, a jump, a ramp and a sine, in the model and as a course for `coulomb`
    time = (np.arange(100_000) + 0.5) / 100_000
    loads = np.full(len(time), along)

    def height() -> float:
        cone = static * normal / share
        return cone * chance.choice([0, 0.3, 0.7, 1.02, 1.2, 1.5, 3, 10]) * chance.choice([-1, 1])

    def push(name: str, kind: str, course: np.ndarray, **values: float) -> None:
        nonlocal loads
        model.add(kind, name, **values)
        model.add("mechanics.applied_force", f"{name}_push", body=body, axis=(1, 0, 0))
        model.connect(name, f"{name}_push.force")
        loads = loads + course

    def step(name: str, start: float, change: float) -> None:
        course = np.where(time >= start, change, 0.0)
        push(name, "signals.step", course, start_time=start, height=change * mass)

    start, pulse = chance.uniform(0.1, 0.8), height()
    step("pulse", start, pulse)
    step("pulse_end", start + max(chance.choice([1e-3, 1e-2, 0.1]), 12.0 * constant), -pulse)
    start = chance.uniform(0.1, 0.8)
    step("jump", start, height())
    start, duration, change = chance.choice([start, 0.6]), chance.choice([1e-3, 1e-2, 0.1, 0.5]), height()
    course = change * np.clip((time - start) / duration, 0.0, 1.0)
    push("ramp", "signals.ramp", course, start_time=start, duration=duration, height=change * mass)
    rate, change = 2.0 * math.pi * chance.choice([0.5, 3.0, 10.0, 50.0]), height() * chance.choice([0, 1])
    push("sine", "measures.sinusoid", change * np.sin(rate * time), amplitude=change * mass, frequency=rate)

    method, accuracy = f"integrators.{chance.choice(METHODS)}", chance.choice([1e-5, 1e-7])
    result = model.simulate(until=1.0, accuracy=accuracy, integrator=method)
    speed, largest = coulomb(loads, share, static * normal, dynamic * normal)
    near = [coulomb(loads, share, static * normal * f, dynamic * normal)[0] for f in (0.99, 1.01)]
    # errors: the bristles give way, and loads that come within 1 % of the cone may or may not break loose
    give = static * normal * constant
    error = max(1e-4 * largest, 2.0 * give, 2.0 * max(abs(near_speed - speed) for near_speed in near))
    assert result["body.vx"][-1] == pytest.approx(speed, abs=error)
    assert abs(result["body.z"][-1] - result["body.z"][0]) < depth  # it neither tips nor climbs
    energy = mass * max(largest, give) ** 2
    assert abs(result["energy.residual"]).max() < 20.0 * accuracy * energy
