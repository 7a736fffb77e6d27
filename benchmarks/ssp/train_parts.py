"""Wagons in a row and the controller that keeps their distances."""

import cosim


class Wagon(cosim.Component):
    """A mass between two springs with dampers; where no neighbour is connected, there is a wall."""

    mass = cosim.parameter(unit="kg", default=1000.0)
    stiffness = cosim.parameter(unit="N/m", default=4e4)
    damping = cosim.parameter(unit="N.s/m", default=500.0)
    x_left = cosim.input(unit="m")
    v_left = cosim.input(unit="m/s")
    x_right = cosim.input(unit="m")
    v_right = cosim.input(unit="m/s")
    push = cosim.input(unit="N")
    position = cosim.position(unit="m")
    speed = cosim.speed(unit="m/s")
    x = cosim.output(unit="m")
    v = cosim.output(unit="m/s")

    @cosim.kernel
    def derivatives(
        position,
        speed,
        x_left,
        v_left,
        x_right,
        v_right,
        push,
        mass,
        stiffness,
        damping,
        position_dot,
        speed_dot,
    ):
        position_dot[0] = speed
        bend, slip = x_left - 2.0 * position + x_right, v_left - 2.0 * speed + v_right
        speed_dot[0] = (stiffness * bend + damping * slip + push) / mass

    @cosim.kernel
    def see(position, speed, x, v):
        x[0] = position
        v[0] = speed


class Controller(cosim.Component):
    """Brings the middle of the row to a place, and damps it, by actuators at both ends that lag behind."""

    target = cosim.parameter(unit="m", default=0.1)
    gain = cosim.parameter(unit="N/m", default=1e4)
    damping = cosim.parameter(unit="N.s/m", default=2e3)
    lag = cosim.parameter(unit="s", default=0.05)
    x1 = cosim.input(unit="m")
    x2 = cosim.input(unit="m")
    x3 = cosim.input(unit="m")
    x4 = cosim.input(unit="m")
    v1 = cosim.input(unit="m/s")
    v2 = cosim.input(unit="m/s")
    v3 = cosim.input(unit="m/s")
    v4 = cosim.input(unit="m/s")
    first = cosim.auxiliary_state(unit="N")
    last = cosim.auxiliary_state(unit="N")
    push_first = cosim.output(unit="N")
    push_last = cosim.output(unit="N")

    @cosim.kernel
    def derivatives(
        x1, x2, x3, x4, v1, v2, v3, v4, target, gain, damping, lag, first, last, first_dot, last_dot
    ):
        front, rear = 0.5 * (x1 + x2), 0.5 * (x3 + x4)
        first_dot[0] = (gain * (target - front) - 0.5 * damping * (v1 + v2) - first) / lag
        last_dot[0] = (gain * (target - rear) - 0.5 * damping * (v3 + v4) - last) / lag

    @cosim.kernel
    def drive(first, last, push_first, push_last):
        push_first[0] = first
        push_last[0] = last
