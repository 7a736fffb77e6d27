"""Components whose runs have known derivatives, and the derivatives of a run of one of them."""

from __future__ import annotations

import math

import cosim

EXACT = 1e-12
"""How far a derivative may be off a closed form, relative to it: rounding of some hundred operations."""


def differentiated(part: cosim.Component, until: float, by: list[str], **options) -> cosim.Result:
    """A run of one part, ``x``, with derivatives by some variables."""
    model = cosim.Model("m")
    model.add(part, "x")
    return model.simulate(until=until, derivatives=by, output_interval=until / 4, **options)


def ends(result: cosim.Result, of: str, by: list[str]) -> list[float]:
    """The last derivatives of a signal by some variables."""
    return [float(result.derivative(of, path)[-1]) for path in by]


class Ball(cosim.Component):
    """Law: height' = speed, speed' = -g; at the floor speed becomes -e speed."""

    g = cosim.parameter(unit="m/s2", default=9.81)
    e = cosim.parameter(default=0.8)
    h0 = cosim.parameter(unit="m", default=1.0)
    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    bounces = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(g, speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -g

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    @cosim.kernel
    def begin(h0, height_next):
        height_next[0] = h0

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(e, speed, bounces, speed_next, bounces_next):
        speed_next[0] = -e * speed
        bounces_next[0] = bounces + 1


def slopes_of_ball(bounces: int, until: float) -> list[float]:
    """Derivatives of the height of a `Ball` after some bounces, by h0, e and g at 1, 0.8 and 9.81."""
    h0, e, g = 1.0, 0.8, 9.81
    if bounces == 0:
        return [1.0, 0.0, -0.5 * until * until]
    root, speed = math.sqrt(2.0 * h0 / g), math.sqrt(2.0 * h0 * g) * e**bounces
    # the time of the last bounce is root * flights; the derivative of flights by e is by_flights
    flights = 1.0 + 2.0 * sum(e**k for k in range(1, bounces))
    by_flights = 2.0 * sum(k * e ** (k - 1) for k in range(1, bounces))
    rest = until - root * flights
    slope = speed - g * rest  # of the height by the time since the last bounce
    by_h0 = speed / (2.0 * h0) * rest - slope * flights * root / (2.0 * h0)
    by_e = bounces * speed / e * rest - slope * root * by_flights
    by_g = speed / (2.0 * g) * rest - 0.5 * rest * rest + slope * flights * root / (2.0 * g)
    return [by_h0, by_e, by_g]


class Relay(cosim.Component):
    """Law: y' = a until y = c, then b; at fixed times y grows by j y."""

    a = cosim.parameter(default=1.0)
    b = cosim.parameter(default=3.0)
    c = cosim.parameter(default=0.7)
    j = cosim.parameter(default=0.25)
    y = cosim.auxiliary_state(start=0.0)
    on = cosim.discrete(start=0.0)

    @cosim.kernel
    def derivatives(a, b, on, y_dot):
        y_dot[0] = a + (b - a) * on

    @cosim.witness(direction="rising")
    def cross(y, c):
        return y - c

    @cosim.on(cross, does="discrete")
    @cosim.kernel
    def turn(on_next):
        on_next[0] = 1.0

    @cosim.every(1.0, offset=1.0, does="unrestricted")
    @cosim.kernel
    def kick(j, y, y_next):
        y_next[0] = y + j * y


class Alarm(cosim.Component):
    """Law: y' = 1, and 1 + r behind the time d, which a timer is set to."""

    d = cosim.parameter(unit="s", default=0.6)
    r = cosim.parameter(default=2.0)
    y = cosim.auxiliary_state(start=0.0)
    on = cosim.discrete(start=0.0)
    alarm = cosim.timer()

    @cosim.kernel
    def derivatives(r, on, y_dot):
        y_dot[0] = 1.0 + r * on

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    @cosim.kernel
    def begin(d, alarm_next):
        alarm_next[0] = d

    @cosim.on(alarm, does="discrete")
    @cosim.kernel
    def turn(on_next):
        on_next[0] = 1.0


class Branch(cosim.Component):
    """Law: y' = a until y = c, then b, by a branch that no event announces."""

    a = cosim.parameter(default=1.0)
    b = cosim.parameter(default=3.0)
    c = cosim.parameter(default=0.7)
    y = cosim.auxiliary_state(start=0.0)

    @cosim.kernel
    def derivatives(a, b, c, y, y_dot):
        y_dot[0] = a if y < c else b


class Touch(cosim.Component):
    """Law: y' = 3 (t - 1)^2; where y = 0 it stands still for a moment."""

    c = cosim.parameter(default=1.0)
    y = cosim.auxiliary_state(start=-1.0)

    @cosim.kernel
    def derivatives(t, y_dot):
        y_dot[0] = 3.0 * (t - 1.0) * (t - 1.0)

    @cosim.witness(direction="rising")
    def cross(y):
        return y

    @cosim.on(cross, does="unrestricted")
    @cosim.kernel
    def turn(y, c, y_next):
        y_next[0] = y + c


class Slide(cosim.Component):
    """Law: y' = m - s, x' = s^2, where s becomes low and high in turn as y passes zero."""

    m = cosim.parameter(default=0.3)
    high = cosim.parameter(default=1.0)
    low = cosim.parameter(default=-1.0)
    y = cosim.auxiliary_state(start=1.0)
    x = cosim.auxiliary_state()
    s = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(m, s, y_dot, x_dot):
        y_dot[0] = m - s
        x_dot[0] = s * s

    @cosim.witness
    def zero(y):
        return y

    @cosim.on(zero, does="discrete")
    @cosim.kernel
    def turn(s, low, high, s_next):
        s_next[0] = low if s > 0.0 else high


class Clutch(cosim.Component):
    """Law: j1 w1' = torque - s cap, j2 w2' = s cap, where s is the sign of w1 - w2."""

    j1 = cosim.parameter(default=1.0)
    j2 = cosim.parameter(default=2.0)
    cap = cosim.parameter(default=1.5)
    torque = cosim.parameter(default=0.5)
    w1 = cosim.auxiliary_state(start=2.0)
    w2 = cosim.auxiliary_state()
    s = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(j1, j2, cap, torque, s, w1_dot, w2_dot):
        w1_dot[0] = (torque - s * cap) / j1
        w2_dot[0] = s * cap / j2

    @cosim.witness
    def slip(w1, w2):
        return w1 - w2

    @cosim.on(slip, does="discrete")
    @cosim.kernel
    def turn(s, s_next):
        s_next[0] = -s


class Resting(cosim.Component):
    """Law: height'' = -9.81 above a floor at a sin(t), from which it bounces until it rests on it."""

    e = cosim.parameter(default=0.5)
    a = cosim.parameter(default=0.05)
    height = cosim.position(start=1.0)
    speed = cosim.speed()
    drift = cosim.speed()

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot, drift_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81
        drift_dot[0] = 0.0

    @cosim.witness(direction="falling")
    def floor(t, height, a):
        return height - a * math.sin(t)

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(t, e, a, speed, drift, speed_next, drift_next):
        own = a * math.cos(t)
        speed_next[0] = own - e * (speed - own)
        drift_next[0] = drift + (0.0 if a > 0.0 else 0.5 * speed)


class Two(cosim.Component):
    """Law: y' = 1; at y = c it doubles, at y = d it loses a half: which is first depends on c - d."""

    c = cosim.parameter(default=0.5)
    d = cosim.parameter(default=0.5)
    y = cosim.auxiliary_state(start=0.0)
    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(y_dot, x_dot):
        y_dot[0] = 1.0
        x_dot[0] = 0.0

    @cosim.witness(direction="rising")
    def first(y, c):
        return y - c

    @cosim.witness(direction="rising")
    def second(y, d):
        return y - d

    @cosim.on(first, does="unrestricted")
    @cosim.kernel
    def double(x, x_next):
        x_next[0] = 2.0 * x

    @cosim.on(second, does="unrestricted")
    @cosim.kernel
    def lose(y, y_next):
        y_next[0] = y - 0.5


class Kinked(cosim.Component):
    """Law: y' = 1 + max(y - c, 0)."""

    c = cosim.parameter(default=0.7)
    y = cosim.auxiliary_state(start=0.0)

    @cosim.kernel
    def derivatives(c, y, y_dot):
        y_dot[0] = 1.0 + max(y - c, 0.0)


class Oscillator(cosim.Component):
    """Law: x'' = -k x, and z' = x."""

    k = cosim.parameter(default=1.0)
    x = cosim.position(start=1.0)
    v = cosim.speed()
    z = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(k, x, v, x_dot, v_dot, z_dot):
        x_dot[0] = v
        v_dot[0] = -k * x
        z_dot[0] = x


class Counted(cosim.Component):
    """Law: y' = a; at t = 1 it signals, and each signal adds y to s, twice."""

    a = cosim.parameter(default=2.0)
    y = cosim.auxiliary_state(start=0.0)
    s = cosim.discrete(start=0.0)
    rounds = cosim.discrete(dtype=int)
    again = cosim.signal()

    @cosim.kernel
    def derivatives(a, y_dot):
        y_dot[0] = a

    @cosim.every(1.0, offset=1.0, does="discrete")
    @cosim.kernel
    def begin(rounds, again_next, rounds_next):
        again_next[0] = 1
        rounds_next[0] = 0

    @cosim.on(again, does="discrete")
    @cosim.kernel
    def add(y, s, rounds, s_next, again_next, rounds_next):
        s_next[0] = s + y
        rounds_next[0] = rounds + 1
        again_next[0] = 1 if rounds < 1 else 0


class Held(cosim.Component):
    """Law: y' = a - m, where m is y at the end of the step before: Euler's steps for y' = a - y."""

    a = cosim.parameter(default=2.0)
    y = cosim.auxiliary_state(start=0.0)
    m = cosim.discrete(start=0.0)

    @cosim.kernel
    def derivatives(a, m, y_dot):
        y_dot[0] = a - m

    @cosim.update
    def follow(y, m_next):
        m_next[0] = y
