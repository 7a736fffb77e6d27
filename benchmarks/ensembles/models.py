"""The four tasks: a model, the parameter that is varied, and the signal that is recorded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim_mechanics import Multibody


class Ball(cosim.Component):
    """A ball on a floor."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    restitution = cosim.parameter(unit="1", default=0.5, minimum=0, maximum=1)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, restitution, speed_next):
        speed_next[0] = -restitution * speed


class Loop(cosim.Component):
    """The delay equation x' = -gain * past, where `past` is an earlier value of x."""

    level = cosim.auxiliary_state(start=1.0)
    past = cosim.source()
    gain = cosim.parameter(unit="1/s", default=1.0)

    @cosim.kernel
    def derivatives(past, gain, level_dot):
        level_dot[0] = -gain * past


class Task(NamedTuple):
    """A system, the varied values, the end of its runs (s), the recorded signal and its interval (s)."""

    system: cosim.System
    values: dict[str, Any]
    until: float
    signal: str
    interval: float


def pendulum(runs: int) -> Task:
    """Five links of 1 kg and 0.5 m that swing in a plane; the angle where the first one starts is varied."""
    model, parent = Multibody("pendulum", gravity=(0, -9.81, 0)), "ground"
    for i in range(5):
        at = (0, 0, 0) if i == 0 else (0, -0.5, 0)
        body = model.body(f"l{i}", mass=1.0, center_of_mass=(0, -0.25, 0), inertia=(0.02, 0.001, 0.02))
        model.joint("pin", name=f"j{i}", child=body, parent=parent, frame_on_parent=at)
        parent = body
    return Task(model.build(), {"j0.q": np.linspace(0.3, 1.2, runs)[:, None]}, 2.0, "j4.q", 0.01)


def mount(runs: int) -> Task:
    """An engine on three rubber mounts that falls into them; a stiffness is varied."""
    model = Multibody("engine_mount", gravity=(0, 0, -9.81))
    mounts = {"mount_left": (-0.3, 0, 0), "mount_right": (0.3, 0, 0), "mount_rear": (0, -0.35, 0.1)}
    engine = model.body("engine", mass=120.0, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
    model.joint("free", child=engine)
    for name, at in mounts.items():
        ends = {"body1": "ground", "body2": engine, "frame_on_body1": at, "frame_on_body2": at}
        stiffness, damping = [0, 0, 0, 1.2e5, 1.2e5, 2.4e5], [0, 0, 0, 300, 300, 600]
        model.add("mechanics.linear_bushing", name, stiffness=stiffness, damping=damping, **ends)
    values = {"mount_left.stiffness[5]": np.linspace(1e5, 3e5, runs)}
    return Task(model.build(), values, 1.5, "engine.z", 0.01)


def ball(runs: int) -> Task:
    """A ball that bounces for 1.5 s; its restitution is varied."""
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    return Task(model.build(), {"ball.restitution": np.linspace(0.3, 0.8, runs)}, 1.5, "ball.height", 0.01)


def loop(runs: int) -> Task:
    """A delayed loop for 10 s; its gain is varied."""
    model = cosim.Model("loop")
    model.add(Loop, "lag", past="late")
    model.add("measures.delay", "late", source="lag.level", delay=0.5)
    return Task(model.build(), {"lag.gain": np.linspace(0.5, 2.5, runs)}, 10.0, "lag.level", 0.05)


TASKS = {"pendulum": pendulum, "mount": mount, "ball": ball, "loop": loop}
