"""Components whose events meet at one instant, and what runs say of their derivatives."""

from __future__ import annotations

import cosim
from cosim import EventCause


def model_of(part: cosim.Component, name: str = "m") -> cosim.Model:
    """A model of one part."""
    model = cosim.Model("order")
    model.add(part, name)
    return model


def derivative_findings(result: cosim.Result) -> list[str]:
    """The kinds of the findings about derivatives."""
    return [finding.kind for finding in result.findings if finding.kind.endswith("derivative")]


class Meets(cosim.Component):
    """Law: x' = rate, y' = k y; where x reaches the level y is doubled, at the time of a timer it grows."""

    rate = cosim.parameter(default=1.0)
    level = cosim.parameter(default=1.0)
    pause = cosim.parameter(unit="s", default=1.0)
    k = cosim.parameter(default=0.1)
    x = cosim.auxiliary_state()
    y = cosim.auxiliary_state(start=1.0)
    alarm = cosim.timer()

    @cosim.kernel
    def derivatives(rate, k, y, x_dot, y_dot):
        x_dot[0] = rate
        y_dot[0] = k * y

    @cosim.on(EventCause.INITIALIZATION, does="discrete")
    @cosim.kernel
    def begin(pause, alarm_next):
        alarm_next[0] = pause

    @cosim.witness(direction="rising")
    def reaches(x, level):
        return x - level

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def double(y, y_next):
        y_next[0] = 2.0 * y

    @cosim.on(alarm, does="unrestricted")
    @cosim.kernel
    def add(y, y_next):
        y_next[0] = y + 1.0


BY_OF_MEETS = ["m.rate", "m.level", "m.pause", "m.k"]


class Sampled(cosim.Component):
    """Law: y' = k y; at each tick y grows by n + 1 and n by 1."""

    period = cosim.parameter(unit="s", default=0.3)
    offset = cosim.parameter(unit="s", default=0.1)
    k = cosim.parameter(default=1.0)
    y = cosim.auxiliary_state(start=1.0)
    n = cosim.discrete()

    @cosim.kernel
    def derivatives(k, y, y_dot):
        y_dot[0] = k * y

    @cosim.every("period", offset="offset", does="unrestricted")
    @cosim.kernel
    def add(y, n, y_next, n_next):
        y_next[0] = y + n + 1.0
        n_next[0] = n + 1.0


class Wheel(cosim.Component):
    """Law: m x'' = k (body - x) + c (body' - x') - g, on a floor at its height; a stiff bounce."""

    floor = cosim.parameter(default=0.0)
    e = cosim.parameter(default=0.6)
    k = cosim.parameter(default=30.0)
    x = cosim.position(start=1.0)
    v = cosim.speed()
    body = cosim.input()
    body_speed = cosim.input()
    force = cosim.output()

    @cosim.kernel
    def derivatives(k, x, v, body, body_speed, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = k * (body - x) + 0.7 * (body_speed - v) - 9.81

    @cosim.kernel
    def outputs(k, x, v, body, body_speed, force):
        force[0] = -k * (body - x) - 0.7 * (body_speed - v)

    @cosim.witness(direction="falling")
    def reaches(x, floor):
        return x - floor

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def bounce(e, v, v_next):
        v_next[0] = -e * v


class Body(cosim.Component):
    """Law: 5 x'' = forces - 5 g (1 + mixed v1 v2)."""

    mixed = cosim.parameter(default=0.0)
    x = cosim.position(start=1.0)
    v = cosim.speed()
    one = cosim.input()
    two = cosim.input()
    v1 = cosim.input()
    v2 = cosim.input()

    @cosim.kernel
    def derivatives(mixed, v, one, two, v1, v2, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = 0.2 * (one + two) - 9.81 * (1.0 + mixed * v1 * v2)


def cart(mixed: float) -> cosim.System:
    """A body on two wheels that fall onto one floor; `mixed` lets its acceleration depend on both speeds."""
    model = cosim.Model("cart")
    model.add(Body(mixed=mixed), "b")
    for name in ("one", "two"):
        model.add(Wheel(), name)
        model.connect("b.x", f"{name}.body")
        model.connect("b.v", f"{name}.body_speed")
        model.connect(f"{name}.force", f"b.{name}")
        model.connect(f"{name}.v", f"b.v{1 if name == 'one' else 2}")
    return model.build()


BY_OF_CART = ["one.floor", "two.floor", "one.e", "two.e", "one.k", "b.x", "two.v"]
