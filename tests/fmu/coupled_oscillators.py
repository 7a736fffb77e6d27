"""Two coupled oscillators and other systems whose co-simulations have known derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim_fmu import CoSimulation


class Oscillator(cosim.Component):
    """Law: x'' = force - k x - c x'."""

    k = cosim.parameter(unit="N/m", default=2.0)
    c = cosim.parameter(unit="N.s/m", default=0.3)
    idle = cosim.parameter(default=1.0)
    x = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")
    force = cosim.input(unit="N")
    place = cosim.output(unit="mm")
    speed = cosim.output(unit="m/s")

    @cosim.kernel
    def derivatives(k, c, x, v, force, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -k * x - c * v + force

    @cosim.kernel
    def outputs(x, v, place, speed):
        place[0] = 1000.0 * x
        speed[0] = v


class Spring(cosim.Component):
    """A force that depends directly on its inputs, and not linearly."""

    stiffness = cosim.parameter(default=0.7)
    one = cosim.input(unit="m")
    other = cosim.input(unit="m")
    force = cosim.output(unit="N")

    @cosim.kernel
    def law(stiffness, one, other, force):
        stretch = one - other
        force[0] = stiffness * stretch * (1.0 + 0.5 * stretch * stretch)


class Ball(cosim.Component):
    """Law: height' = speed, speed' = force - 9.81; at the floor speed becomes -e speed."""

    e = cosim.parameter(default=0.8)
    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    force = cosim.input(unit="N")
    seen = cosim.output(unit="m")

    @cosim.kernel
    def derivatives(speed, force, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81 + force

    @cosim.kernel
    def outputs(height, seen):
        seen[0] = height

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(e, speed, speed_next):
        speed_next[0] = -e * speed


class Kicked(cosim.Component):
    """Follows its input; its state jumps by `kick` when the input passes 0.5."""

    kick = cosim.parameter(default=0.3)
    u = cosim.input()
    z = cosim.auxiliary_state(start=0.2)

    @cosim.kernel
    def derivatives(z, u, z_dot):
        z_dot[0] = u - z

    @cosim.witness
    def passes(u):
        return u - 0.5

    @cosim.on(passes, does="unrestricted")
    @cosim.kernel
    def go(z, kick, z_next):
        z_next[0] = z + kick


def system_of(name: str, part: cosim.Component, **measures: Any) -> cosim.System:
    """A system of one part, ``m``, and delays with the given settings."""
    model = cosim.Model(name)
    model.add(part, "m")
    for path, settings in measures.items():
        model.add("measures.delay", path, **settings)
    return model.build()


STEP = 0.05
STARTS = {"one.m.k": 2.0, "one.m.c": 0.3, "one.m.x": 1.0, "two.m.k": 3.0}
TIGHT = {"tolerance": 1e-13, "absolute_tolerance": 1e-14}
ALGORITHMS = {
    "jacobi": {},
    "jacobi along parabolas": {"extrapolation": 2},
    "gauss_seidel": {},
    "gauss_seidel along lines": {"extrapolation": 1},
    "waveform_iteration": TIGHT,
    "interface_newton": TIGHT,
}


def oscillators(
    algorithm: str, starts: Mapping[str, float], steps: Mapping[str, float] | None = None
) -> CoSimulation:
    """Two oscillators joined by a spring, a participant whose output depends directly on its inputs."""
    systems = {"one": system_of("one", Oscillator()), "two": system_of("two", Oscillator())}
    return CoSimulation(
        {**systems, "spring": system_of("spring", Spring())},
        [
            ("one.m.place", "spring.m.one"),  # mm to m
            ("two.m.place", "spring.m.other"),
            {"from": "spring.m.force", "to": "one.m.force", "factor": -1.0},
            ("spring.m.force", "two.m.force"),
        ],
        algorithm.split()[0],
        STEP,
        options=ALGORITHMS[algorithm],
        tolerance=1e-12,
        starts={**STARTS, **starts},
        steps=dict(steps or {}),
    )
