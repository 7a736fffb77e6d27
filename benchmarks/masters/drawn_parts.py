"""The components of which `drawn_systems` draws couplings."""

from __future__ import annotations

import math

import cosim


class Mass(cosim.Component):
    """A mass that forces on two sides push."""

    mass = cosim.parameter(unit="kg", default=1.0)
    x = cosim.position(unit="m", start=0.0)
    v = cosim.speed(unit="m/s")
    left = cosim.input(unit="N")
    right = cosim.input(unit="N")

    @cosim.kernel
    def derivatives(v, left, right, mass, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = (left + right) / mass


class Spring(cosim.Component):
    """A spring with a damper, and play or a cubic part if wanted: motion in, forces out."""

    stiffness = cosim.parameter(unit="N/m", default=1.0)
    damping = cosim.parameter(unit="N.s/m", default=0.0)
    cubic = cosim.parameter(unit="N/m3", default=0.0)
    play = cosim.parameter(unit="m", default=0.0)
    x1 = cosim.input(unit="m")
    v1 = cosim.input(unit="m/s")
    x2 = cosim.input(unit="m")
    v2 = cosim.input(unit="m/s")
    on1 = cosim.output(unit="N")
    on2 = cosim.output(unit="N")

    @cosim.kernel
    def force(x1, v1, x2, v2, stiffness, damping, cubic, play, on1, on2):
        s = x2 - x1
        if s > play:
            s = s - play
        elif s < -play:
            s = s + play
        else:
            s = 0.0
        f = stiffness * s + cubic * s * s * s + damping * (v2 - v1)
        on1[0] = f
        on2[0] = -f


class Lag(cosim.Component):
    """A lag of first order: it follows its input with a time constant."""

    time = cosim.parameter(unit="s", default=1.0)
    gain = cosim.parameter(unit="1", default=1.0)
    x = cosim.auxiliary_state(unit="1", start=0.0)
    u = cosim.input(unit="1")
    y = cosim.output(unit="1")

    @cosim.kernel
    def derivatives(x, u, time, gain, x_dot):
        x_dot[0] = (gain * u - x) / time

    @cosim.kernel
    def shown(x, y):
        y[0] = x


class Oscillator(cosim.Component):
    """A system of second order: it follows its input like a damped oscillator."""

    frequency = cosim.parameter(unit="rad/s", default=1.0)
    ratio = cosim.parameter(unit="1", default=0.3)
    x = cosim.auxiliary_state(unit="1", start=0.0)
    v = cosim.auxiliary_state(unit="1/s", start=0.0)
    u = cosim.input(unit="1")
    y = cosim.output(unit="1")

    @cosim.kernel
    def derivatives(x, v, u, frequency, ratio, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = frequency * frequency * (u - x) - 2.0 * ratio * frequency * v

    @cosim.kernel
    def shown(x, y):
        y[0] = x


class Integrator(cosim.Component):
    """Integral of the input."""

    gain = cosim.parameter(unit="1/s", default=1.0)
    x = cosim.auxiliary_state(unit="1", start=0.0)
    u = cosim.input(unit="1")
    y = cosim.output(unit="1")

    @cosim.kernel
    def derivatives(u, gain, x_dot):
        x_dot[0] = gain * u

    @cosim.kernel
    def shown(x, y):
        y[0] = x


class Gain(cosim.Component):
    """Passes its input on at once, limited smoothly if wanted."""

    gain = cosim.parameter(unit="1", default=1.0)
    limit = cosim.parameter(unit="1", default=0.0)
    u = cosim.input(unit="1")
    y = cosim.output(unit="1")

    @cosim.kernel
    def law(u, gain, limit, y):
        if limit > 0.0:
            y[0] = limit * math.tanh(gain * u / limit)
        else:
            y[0] = gain * u


class Source(cosim.Component):
    """The sum of a sine, a ramp and a constant."""

    amplitude = cosim.parameter(unit="1", default=1.0)
    frequency = cosim.parameter(unit="rad/s", default=1.0)
    phase = cosim.parameter(unit="rad", default=0.0)
    slope = cosim.parameter(unit="1/s", default=0.0)
    offset = cosim.parameter(unit="1", default=0.0)
    y = cosim.output(unit="1")

    @cosim.kernel
    def law(t, amplitude, frequency, phase, slope, offset, y):
        y[0] = amplitude * math.sin(frequency * t + phase) + slope * t + offset


class Regulator(cosim.Component):
    """A PI controller that contains its reference, a cosine or a constant."""

    kp = cosim.parameter(unit="1", default=1.0)
    ki = cosim.parameter(unit="1/s", default=0.0)
    reference = cosim.parameter(unit="1", default=1.0)
    frequency = cosim.parameter(unit="rad/s", default=0.0)
    z = cosim.auxiliary_state(unit="s", start=0.0)
    y = cosim.input(unit="1")
    u = cosim.output(unit="1")

    @cosim.kernel
    def derivatives(t, y, reference, frequency, z_dot):
        z_dot[0] = reference * math.cos(frequency * t) - y

    @cosim.kernel
    def law(t, y, z, kp, ki, reference, frequency, u):
        u[0] = kp * (reference * math.cos(frequency * t) - y) + ki * z


class Relay(cosim.Component):
    """A switch that turns on below the lower limit and off above the upper one."""

    low = cosim.parameter(unit="1", default=0.4)
    high = cosim.parameter(unit="1", default=0.6)
    power = cosim.parameter(unit="1", default=1.0)
    on = cosim.discrete(start=1.0)
    y = cosim.input(unit="1")
    u = cosim.output(unit="1")

    @cosim.witness(direction="rising")
    def hot(y, high):
        return y - high

    @cosim.witness(direction="falling")
    def cold(y, low):
        return y - low

    @cosim.on(hot, does="discrete")
    def stop(on_next):
        on_next[0] = 0.0

    @cosim.on(cold, does="discrete")
    def go(on_next):
        on_next[0] = 1.0

    @cosim.kernel
    def law(on, power, u):
        u[0] = power * on


class Clutch(cosim.Component):
    """Two speeds in, torques out: smoothed Coulomb friction, pressed together about `pressed_at`."""

    torque = cosim.parameter(unit="N.m", default=1.0)
    width = cosim.parameter(unit="rad/s", default=0.1)
    pressed_at = cosim.parameter(unit="s", default=1.0)
    rise = cosim.parameter(unit="s", default=0.2)
    w1 = cosim.input(unit="rad/s")
    w2 = cosim.input(unit="rad/s")
    on1 = cosim.output(unit="N.m")
    on2 = cosim.output(unit="N.m")

    @cosim.kernel
    def friction(t, w1, w2, torque, width, pressed_at, rise, on1, on2):
        pressed = 0.5 + 0.5 * math.tanh((t - pressed_at) / rise)
        f = pressed * torque * math.tanh((w2 - w1) / width)
        on1[0] = f
        on2[0] = -f


class Inertia(cosim.Component):
    """A shaft with a drive of its own."""

    inertia = cosim.parameter(unit="kg.m2", default=1.0)
    drag = cosim.parameter(unit="N.m.s/rad", default=0.1)
    drive = cosim.parameter(unit="N.m", default=0.0)
    w = cosim.auxiliary_state(unit="rad/s", start=0.0)
    torque = cosim.input(unit="N.m")

    @cosim.kernel
    def derivatives(w, torque, inertia, drag, drive, w_dot):
        w_dot[0] = (drive + torque - drag * w) / inertia


class VanDerPol(cosim.Component):
    """One of two oscillators of van der Pol that pull at each other."""

    mu = cosim.parameter(unit="1/s", default=1.0)
    pull = cosim.parameter(unit="1/s2", default=0.5)
    x = cosim.auxiliary_state(unit="1", start=1.0)
    v = cosim.auxiliary_state(unit="1/s", start=0.0)
    other = cosim.input(unit="1")

    @cosim.kernel
    def derivatives(x, v, other, mu, pull, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = mu * (1.0 - x * x) * v - x + pull * (other - x)


def sampler_of(period: float) -> type[cosim.Component]:
    """A sampled proportional controller with this period, s."""

    class Sampler(cosim.Component):
        """Holds its input at the last tick."""

        kp = cosim.parameter(unit="1", default=1.0)
        reference = cosim.parameter(unit="1", default=1.0)
        held = cosim.discrete(start=0.0)
        y = cosim.input(unit="1")
        u = cosim.output(unit="1")

        @cosim.every(period, does="discrete")
        def sample(y, kp, reference, held_next):
            held_next[0] = kp * (reference - y)

        @cosim.kernel
        def law(held, u):
            u[0] = held

    return Sampler
