"""Components with a view, each beside the same component with argument names."""

import math

import cosim
from cosim.kit import append_to_history, break_time, enter_piece, history_buffer, trim_history

entry, find = history_buffer.entry, history_buffer.find


def pull(s, share):
    """What two functions of the pendulum have in common; it sets a vector and a number of the view."""
    s.force[1] = share * s.angle
    s.energy = 0.5 * s.stiffness * s.angle * s.angle + spin(s)
    return s.force[1]


def spin(s):
    return 0.5 * s.rate * s.rate


def stiffness(x):
    """Has the name of something that the pendulum declares."""
    return 2.0 * x


def halve(numbers):
    numbers[0] = 0.5 * numbers[0]


class Declared(cosim.Component):
    """What both pendulums declare. Law: angle'' = -stiffness angle - |drag| rate."""

    stiffness = cosim.parameter(unit="1/s2", default=2.0, minimum=0.0)
    drag = cosim.parameter(unit="1/s", default=0.1)
    gains = cosim.parameter(shape=(2, 2), default=[[1.0, 2.0], [3.0, 4.0]])
    mode = cosim.option("soft", choices=("soft", "hard"))
    angle = cosim.position(unit="rad", start=0.3)
    rate = cosim.speed(unit="rad/s")
    torque = cosim.cache_slot(unit="1/s2")
    energy = cosim.output(unit="1/s2")
    force = cosim.cache_slot(shape=2)
    hits = cosim.discrete(dtype=int)
    ticks = cosim.discrete(dtype=int)


class Pendulum(Declared):
    """With a view. Law: angle'' = -stiffness angle - |drag| rate."""

    @cosim.kernel
    def move(s):
        stiffness_of_two = stiffness(s.stiffness)
        angle = s.angle
        s.torque = -0.5 * stiffness_of_two * angle
        s.torque -= s.drag * s.rate * (s.gains[0, 1] + s.mode)
        s.angle_dot, s.rate_dot = s.rate, s.torque
        s.force[0] = s.gains[1, 0] * s.torque
        pulled = pull(s, 3.0)
        halve(s.energy)
        if pulled > 1e9:
            s.energy = math.inf

    @cosim.witness(direction="falling")
    def low(s):
        return s.angle

    @low.rate
    def falls(s):
        return s.rate

    @cosim.on(low, does="unrestricted")
    def bounce(s):
        s.hits_next = s.hits + 1
        s.rate_next = -0.9 * s.rate

    @cosim.every(0.25, does="discrete")
    def tick(s):
        s.ticks_next += 1


class PendulumByNames(Declared):
    """With argument names. Law: angle'' = -stiffness angle - |drag| rate."""

    @cosim.kernel
    def move(
        stiffness, drag, gains, mode, angle, rate, angle_dot, rate_dot, torque, energy, force
    ):  # fmt: skip
        torque[0] = -0.5 * (2.0 * stiffness) * angle
        torque[0] -= drag * rate * (gains[0, 1] + mode)
        angle_dot[0] = rate
        rate_dot[0] = torque[0]
        force[0] = gains[1, 0] * torque[0]
        force[1] = 3.0 * angle
        energy[0] = 0.5 * stiffness * angle * angle + 0.5 * rate * rate
        halve(energy)
        if force[1] > 1e9:
            energy[0] = math.inf

    @cosim.witness(direction="falling")
    def low(angle):
        return angle

    @low.rate
    def falls(rate):
        return rate

    @cosim.on(low, does="unrestricted")
    def bounce(hits, rate, hits_next, rate_next):
        hits_next[0] = hits + 1
        rate_next[0] = -0.9 * rate

    @cosim.every(0.25, does="discrete")
    def tick(ticks_next):
        ticks_next[0] += 1


class Remembering(cosim.Measure):
    """What both echoes declare. Law: value = the source at the newest step before t - delay, bent at zero."""

    unit_from = "source"
    source = cosim.source()
    delay = cosim.parameter(unit="s", default=0.05, minimum=1e-6)
    past = cosim.history(of="source", keep="delay")
    next_break = cosim.cache_slot(unit="s")


class Echo(Remembering):
    """With a view. Law: value = |source| at the newest step before t - delay."""

    @cosim.kernel
    def value(s):
        past = s.past
        i = past.find(s.t - s.delay)
        s.value = 0.0
        if i >= 0:
            newest = past.entry(i)
            s.value = abs(newest.value)
        s.next_break = past.break_time

    @cosim.update
    def remember(s):
        s.past.append(s.t, s.side, s.smoothness, s.source, s.source_dot)
        s.past.enter_piece(s.t, s.t - s.delay)
        if s.side == 0.0:
            s.past.trim(s.t, s.t - s.delay)


class EchoByNames(Remembering):
    """With argument names. Law: value = |source| at the newest step before t - delay."""

    @cosim.kernel
    def value(t, delay, past, past_ring, value, next_break):
        i = find(past, past_ring, t - delay)
        value[0] = 0.0
        if i >= 0:
            value[0] = abs(entry(past, past_ring, i).value)
        next_break[0] = break_time(past, past_ring)

    @cosim.update
    def remember(t, side, smoothness, source, source_dot, delay, past, past_ring):
        append_to_history(past, past_ring, t, side, smoothness, source, source_dot)
        enter_piece(past, past_ring, t, t - delay)
        if side == 0.0:
            trim_history(past, past_ring, t, t - delay)


def swinging(pendulum, echo) -> cosim.Model:
    """A pendulum, and what its angle was a while ago."""
    model = cosim.Model("swinging")
    model.add(pendulum(mode="hard"), "pendulum")
    model.add(echo(source="pendulum.angle"), "echo")
    return model
