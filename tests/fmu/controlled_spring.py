"""A mass on a spring and its proportional controller, as two systems."""

import cosim


class SpringMass(cosim.Component):
    """A mass on a spring, pushed by a force."""

    position = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    force = cosim.input(unit="N")
    mass = cosim.parameter(unit="kg", default=1.0, minimum=0.0)
    stiffness = cosim.parameter(unit="N/m", default=1.0)
    felt = cosim.output(unit="mm")
    reaction = cosim.output(unit="N")

    @cosim.kernel
    def derivatives(position, speed, force, mass, stiffness, position_dot, speed_dot):
        position_dot[0] = speed
        speed_dot[0] = (force - stiffness * position) / mass

    @cosim.kernel
    def sensor(position, felt):
        felt[0] = 1000.0 * position

    @cosim.kernel
    def support(position, force, stiffness, reaction):
        reaction[0] = stiffness * position - force


class Controller(cosim.Component):
    """A force against a displacement, at the same instant."""

    seen = cosim.input(unit="m")
    gain = cosim.parameter(unit="N/m", default=3.0)
    push = cosim.output(unit="N")

    @cosim.kernel
    def act(seen, gain, push):
        push[0] = -gain * seen


def plant() -> cosim.Model:
    model = cosim.Model("plant")
    model.add(SpringMass, "body")
    return model


def controller() -> cosim.Model:
    model = cosim.Model("controller")
    model.add(Controller, "law")
    return model


WIRES = [("plant.body.felt", "controller.law.seen"), ("controller.law.push", "plant.body.force")]
