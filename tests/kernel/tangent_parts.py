"""Systems with known tangents: an oscillator, a valve whose author gives one, and an engine mount."""

from __future__ import annotations

import math

import cosim
from cosim.kit import tangent_of
from cosim_mechanics import Multibody


class Oscillator(cosim.Component):
    """Law: mass speed' = force - stiffness height^3 - damping |speed| speed."""

    mass = cosim.parameter(unit="kg", default=2.0)
    stiffness = cosim.parameter(unit="N/m3", default=8.0)
    damping = cosim.parameter(unit="N.s2/m2", default=0.5)
    force = cosim.input(unit="N")
    height = cosim.position(unit="m", start=0.3)
    speed = cosim.speed(unit="m/s", start=-0.2)
    power = cosim.output(unit="W")

    @cosim.kernel
    def derivatives(s):
        pull = s.force - s.stiffness * s.height * s.height * s.height - s.damping * abs(s.speed) * s.speed
        s.height_dot = s.speed
        s.speed_dot = pull / s.mass
        s.power = pull * s.speed * s.t


class InPython(cosim.Component):
    """Law: value = exp(x) as a method of plain Python."""

    x = cosim.input()
    value = cosim.output()

    @cosim.kernel
    def evaluate(self, x, value):
        value[0] = math.exp(x)


def root_of(c):
    """The root of x^3 + x = c, by Newton's method."""
    x = 1.0
    for _ in range(40):
        x -= (x * x * x + x - c) / (3.0 * x * x + 1.0)
    return x


@tangent_of(root_of)
def root_of_tangent(c, c_dot):
    x = root_of(c)
    return c_dot / (3.0 * x * x + 1.0)


class Valve(cosim.Component):
    """Law: x^3 + x = pressure, flow = sqrt(x)."""

    pressure = cosim.input(start=10.0)
    flow = cosim.output()

    @cosim.kernel
    def evaluate(pressure, flow):
        flow[0] = math.sqrt(root_of(pressure))


def oscillator() -> tuple[cosim.System, cosim.State]:
    """A system of an `Oscillator` and its State at 0.7 s with a force of 1.5 N."""
    model = cosim.Model("m")
    model.add(Oscillator(), "o")
    system = model.build()
    state = system.default_state()
    state["o.force"] = 1.5
    state.set_time(0.7)
    return system, state.realize(cosim.Stage.REPORT)


def engine() -> cosim.System:
    """An engine on one rubber mount."""
    model = Multibody("mount", gravity=(0, 0, -9.81))
    body = model.body("engine", mass=120.0, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
    model.joint("free", child=body)
    rubber = {"stiffness": [2e3] * 3 + [3e3] * 3, "damping": [20.0] * 6}
    model.add("mechanics.linear_bushing", "rubber", body1="ground", body2=body, **rubber)
    return model.build()
