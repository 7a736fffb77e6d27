"""Small components that several test modules use."""

import math

import cosim


def system_of(**parts):
    """A system of parts by name: classes or components."""
    model = cosim.Model("test")
    for name, part in parts.items():
        model.add(part, name)
    return model.build()


class Oscillator(cosim.Component):
    """A mass on a spring, with an input and an output."""

    x = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")
    stiffness = cosim.parameter(unit="N/m", default=4.0, minimum=0.0)
    force = cosim.input(unit="N")
    energy = cosim.output(unit="J")

    @cosim.kernel
    def derivatives(x, v, stiffness, force, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = force - stiffness * x

    @cosim.kernel
    def energies(x, v, stiffness, energy):
        energy[0] = 0.5 * (stiffness * x * x + v * v)


class Stone(cosim.Component):
    """A stone that falls onto a floor; its witness declares its rate, and by default it does not bounce."""

    height = cosim.position(unit="m", start=0.3)
    speed = cosim.speed(unit="m/s")
    level = cosim.parameter(unit="m", default=0.0726)
    restitution = cosim.parameter(default=0.0)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(height, level):
        return height - level

    @floor.rate
    def floor_rate(speed):
        return speed

    @cosim.on(floor, does="unrestricted")
    def land(speed, restitution, speed_next):
        speed_next[0] = -restitution * speed


class BouncingBall(cosim.Component):
    """A ball on a floor; the third bounce raises an alarm."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    gravity = cosim.parameter(unit="m/s2", default=9.81)
    restitution = cosim.parameter(default=0.5, minimum=0.0, maximum=1.0)
    bounces = cosim.discrete(dtype=int)
    alarm = cosim.signal()
    alarms = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(speed, gravity, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -gravity

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, restitution, bounces, speed_next, bounces_next, alarm_next):
        speed_next[0] = -restitution * speed
        bounces_next[0] = bounces + 1
        if bounces == 2:
            alarm_next[0] = 1

    @cosim.on(alarm, does="discrete")
    def ring(alarms, alarms_next):
        alarms_next[0] = alarms + 1


class CurvedBall(BouncingBall):
    """A bouncing ball with a witness that is nonlinear in the states."""

    @cosim.witness(direction="falling")
    def floor(height):
        return height * (1.0 + height)

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, restitution, bounces, speed_next, bounces_next):
        speed_next[0] = -restitution * speed
        bounces_next[0] = bounces + 1


class Clock(cosim.Component):
    """A witness t - when, and a state that lets an integrator step."""

    when = cosim.parameter(unit="s", default=1.0)
    phase = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(t, phase_dot):
        phase_dot[0] = math.cos(t)

    @cosim.witness
    def due(t, when):
        return t - when
