"""Elastic contacts differ from Coulomb's law of rigid ones: the elastic law, integrated by SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from contact_formulas import GRAVITY, hertz_depth, mindlin_stiffness
from scipy.integrate import solve_ivp

from cosim_mechanics import Multibody, shapes
from cosim_mechanics.contracts.contact_law import damping_ratio_of

ENOUGH = 1.0 + 1e-6
"""The load at which a bristle breaks loose, in parts of its friction."""


def limited(force: float, limit: float) -> float:
    """Return a force that friction limits."""
    return max(-limit, min(limit, force))


def integrate(
    rates: Callable[[float, Any], Any],
    y: Any,
    until: float,
    events: list[Any],
    change: Callable[[Any, int], None],
) -> np.ndarray:
    """Integrate with events at which `change` switches the equations, at a tolerance of 1e-11."""
    t, y = 0.0, np.array(y)
    for event in events:
        event.terminal, event.direction = True, -1
    for _ in range(100):
        part = solve_ivp(
            rates, (t, until), y, "DOP853", rtol=1e-11, atol=1e-15, events=events, first_step=1e-9
        )
        t, y = part.t[-1], part.y[:, -1]
        if part.status == 0:
            return y
        hit = [i for i, times in enumerate(part.t_events) if len(times)]
        for i in hit:
            change(y, i)
        y, t = y + 1e-11 * np.array(rates(t, y)), t + 1e-11
        for i, event in enumerate(events):
            if i not in hit and event(t, y) < 0.0:
                change(y, i)
    raise AssertionError("too many events")


def ball_that_slips_back(modulus: float, friction: float, slope: float, u: tuple[float, float]) -> float:
    """Return the speed after 0.5 s of a ball on one bristle, a damped spring whose length friction limits."""
    normal, along = GRAVITY * math.cos(slope), -GRAVITY * math.sin(slope)
    stiffness = mindlin_stiffness(modulus, 0.1, hertz_depth(normal, modulus, 0.1))
    limit = friction * normal
    damping = 2.0 * math.sqrt(stiffness)
    limit_side = [0]  # the side at which friction limits the spring; 0 if it does not

    def slip(y: Any) -> float:
        return float(y[0] - 0.1 * y[1])

    def rates(t: float, y: Any) -> list[float]:
        stretch = limit_side[0] * limit / stiffness if limit_side[0] else y[2]
        force = -limited(stiffness * stretch + damping * slip(y), limit)
        return [along + force, -force * 0.1 / 0.004, 0.0 if limit_side[0] else slip(y)]

    def change(y: Any, i: int) -> None:
        limit_side[0] = 0 if limit_side[0] else int(math.copysign(1.0, y[2]))
        y[2] = limited(y[2], limit / stiffness * (1.0 - 1e-12))

    def end(t: float, y: Any) -> float:
        return limit_side[0] * slip(y) if limit_side[0] else limit * (1.0 + 1e-13) - stiffness * abs(y[2])

    return float(integrate(rates, [*u, 0.0], 0.5, [end], change)[0])


@pytest.mark.parametrize(("modulus", "compliance"), [(1e5, 2.0e-3), (1e7, 4.4e-4), (1e9, 0.9e-4)])
def test_a_ball_slips_back_by_the_elastic_law(modulus: float, compliance: float) -> None:
    slope, friction, (speed, spin) = math.radians(30.0), 0.1, (1.0, 5.0)
    normal, along = GRAVITY * math.cos(slope), -GRAVITY * math.sin(slope)
    model = Multibody("ball", gravity=(along, 0, -normal))
    body = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    height = 0.1 - hertz_depth(normal, modulus, 0.1)
    model.joint("free", child=body, q=[1, 0, 0, 0, 0, 0, height], u=[0, spin, 0, speed, 0, 0])
    model.collisions(
        "heap",
        {"ground": shapes.HalfSpace(), "ball": shapes.Sphere(0.1)},
        stiffness=modulus,
        friction=friction,
    )
    speed_of_model = model.simulate(until=0.5, accuracy=1e-9)["ball.vx"][-1]
    elastic_speed = ball_that_slips_back(modulus, friction, slope, (speed, spin))
    rolling_start = (speed - 0.1 * spin) / (3.5 * friction * normal - along)
    rigid_speed = (
        speed
        + (along - friction * normal) * rolling_start
        + (along + friction * normal) * (0.5 - rolling_start)
    )
    assert speed_of_model == pytest.approx(elastic_speed, rel=5e-6)
    assert elastic_speed / rigid_speed - 1.0 == pytest.approx(compliance, rel=0.05)


class Corner:
    """Two corners of a box side by side: their forces, and whether they slide."""

    def __init__(self, side: int, modulus: float, friction: float) -> None:
        self.side, self.modulus, self.friction = side, modulus, friction
        self.slides = self.is_loose = True

    def touch(self, y: Any) -> None:
        """Update arm, speed along the floor, stiffness and normal force."""
        c, s = math.cos(y[2]), math.sin(y[2])
        self.x = self.side * 0.18 * c - 0.03 * s
        self.z = -self.side * 0.18 * s - 0.03 * c - 0.02
        depth, self.speed = -(y[1] + self.z), float(y[3] + y[5] * self.z)
        strength = 4.0 / 3.0 * self.modulus * math.sqrt(0.02)
        self.stiffness = mindlin_stiffness(self.modulus, 0.02, depth)
        damping = damping_ratio_of(0.5) * math.sqrt(5.0 * strength * math.sqrt(depth))
        self.normal = strength * depth**1.5 - damping * float(y[4] - y[5] * self.x)
        self.limit = self.friction * self.normal

    def stretch_bristle(self, stretch: float, total_stiffness: float) -> None:
        """Update load and pull of the bristle; its part of the damping is that of its stiffness."""
        self.half = self.stiffness / math.sqrt(total_stiffness)
        self.load = self.stiffness * stretch + self.half * self.speed
        self.pull = self.load + self.half * self.speed

    @property
    def force(self) -> float:
        """The friction force of the corner."""
        return limited(self.pull, self.limit) if self.slides else self.pull

    def margin(self) -> float:
        """Return the distance from sticking or sliding, in parts of its friction."""
        if self.slides:
            return abs(self.pull) / self.limit - 1.0
        return (ENOUGH if self.is_loose else 2.0) - min(abs(self.load), abs(self.pull)) / self.limit


def box_that_slides_back(modulus: float, friction: float, slope: float) -> float:
    """Return the speed after 1 s of a box that is thrown up a slope and pitches on its corners."""
    corners = [Corner(side, modulus, friction) for side in (1, -1)]
    weight, along = GRAVITY * math.cos(slope), GRAVITY * math.sin(slope)

    def update(y: Any) -> None:
        for corner in corners:
            corner.touch(y)
        for corner, stretch in zip(corners, y[6:], strict=True):
            corner.stretch_bristle(stretch, 2.0 * sum(other.stiffness for other in corners))

    def rates(t: float, y: Any) -> list[float]:
        update(y)
        feet = [limited(c.load, math.inf) - limited(c.load, c.limit) for c in corners]
        return [
            *y[3:6],
            along - 2.0 * sum(c.force for c in corners),
            2.0 * sum(c.normal for c in corners) - weight,
            -2.0 * sum(c.z * c.force + c.x * c.normal for c in corners) / 0.01,
            *(c.speed - foot / c.half for c, foot in zip(corners, feet, strict=True)),
        ]

    def end_of(number: int) -> Callable[[float, Any], float]:
        def end(t: float, y: Any) -> float:
            update(y)
            return corners[number].margin()

        return end

    def loose(t: float, y: Any) -> float:
        update(y)
        if all(corner.is_loose for corner in corners):
            return 1.0
        load = abs(sum(c.force if c.slides and c.is_loose else c.load for c in corners))
        return ENOUGH - min(load, abs(sum(c.force for c in corners))) / sum(c.limit for c in corners)

    def change(y: Any, i: int) -> None:
        update(y)
        if i < 2:
            corners[i].slides = not corners[i].slides
            corners[i].is_loose = corners[i].is_loose and corners[i].slides
            return
        for corner in corners:
            corner.slides = corner.slides or min(abs(corner.load), abs(corner.pull)) > corner.limit * ENOUGH
            corner.is_loose = True

    depth = hertz_depth(0.25 * weight, modulus, 0.02)
    stretch = friction * 0.25 * weight / mindlin_stiffness(modulus, 0.02, depth)
    y = [0.0, 0.05 - depth, 0.0, -1.0, 0.0, 0.0, -stretch, -stretch]
    return float(integrate(rates, y, 1.0, [end_of(0), end_of(1), loose], change)[3])


@pytest.mark.few(1)
@pytest.mark.parametrize(("modulus", "compliance"), [(1e5, 3.0e-3), (1e7, 6.5e-4), (1e8, 3.0e-4)])
def test_a_box_slides_back_by_the_elastic_law(modulus: float, compliance: float) -> None:
    slope, friction = math.radians(28.0), 0.4
    weight, along = GRAVITY * math.cos(slope), GRAVITY * math.sin(slope)
    model = Multibody("box", gravity=(along, 0, -weight))
    box = model.body("box", mass=1.0, inertia=(0.01, 0.01, 0.02))
    height = 0.05 - hertz_depth(0.25 * weight, modulus, 0.02)
    model.joint("free", child=box, q=[1, 0, 0, 0, 0, 0, height], u=[0, 0, 0, -1, 0, 0])
    model.shape_contacts(
        "floor", "ground", shapes.HalfSpace(), box, shapes.Box((0.4, 0.4, 0.1), 0.02), stiffness=modulus,
        restitution=0.5, static_friction=friction, dynamic_friction=friction,
    )  # fmt: skip
    speed_of_model = model.simulate(until=1.0, accuracy=1e-8)["box.vx"][-1]
    elastic_speed = box_that_slides_back(modulus, friction, slope)
    rigid_speed = (1.0 - 1.0 / (along + friction * weight)) * (along - friction * weight)
    assert speed_of_model == pytest.approx(elastic_speed, rel=1e-6)
    assert elastic_speed / rigid_speed - 1.0 == pytest.approx(compliance, rel=0.05)
