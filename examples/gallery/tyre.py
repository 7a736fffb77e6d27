"""A tyre by the magic formula: its side force from slip and load."""

import math

import cosim


class Tyre(cosim.Component):
    """Side force of a tyre, after its slip has built up over a relaxation length.

    Law: s' = |v| (tan(slip) - s) / length, F = load d sin(c atan(b a - e (b a - atan(b a)))), a = atan(s).

    References
    ----------
    H. B. Pacejka, "Tire and Vehicle Dynamics", 3rd ed. (2012), chapter 4 and section 5.4.
    """

    slip_angle = cosim.input(unit="rad", description="between the wheel's plane and its velocity")
    speed = cosim.input(unit="m/s", start=20.0, description="of the wheel, along its plane")
    load = cosim.input(unit="N", start=4000.0, description="vertical force")
    stiffness_factor = cosim.parameter(unit="1", default=10.0, minimum=0.0, description="b")
    shape_factor = cosim.parameter(unit="1", default=1.3, minimum=0.0, description="c")
    friction = cosim.parameter(unit="1", default=1.0, minimum=0.0, description="d")
    curvature = cosim.parameter(unit="1", default=-1.0, maximum=1.0, description="e")
    relaxation_length = cosim.parameter(unit="m", default=0.5, above=0.0, description="way of the slip")
    slip = cosim.auxiliary_state(unit="1", description="tangent of the slip angle that the contact has")
    side_force = cosim.output(unit="N", description="across the wheel's plane")

    @cosim.kernel
    def build_up(slip, slip_angle, speed, relaxation_length, slip_dot):
        slip_dot[0] = abs(speed) * (math.tan(slip_angle) - slip) / relaxation_length

    @cosim.kernel
    def calc_force(slip, load, stiffness_factor, shape_factor, friction, curvature, side_force):
        x = stiffness_factor * math.atan(slip)
        bent = x - curvature * (x - math.atan(x))
        side_force[0] = load * friction * math.sin(shape_factor * math.atan(bent))
