"""A mass on a spring with ticks, a witness and a delay."""

import cosim


class Swing(cosim.Component):
    """A mass on a spring that is pushed when it comes down to 0. Law: height'' = -stiffness height."""

    stiffness = cosim.parameter(unit="N/m", default=4.0)
    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    energy = cosim.output(unit="J")
    counts = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(stiffness, height, speed, height_dot, speed_dot, energy):
        height_dot[0] = speed
        speed_dot[0] = -stiffness * height
        energy[0] = 0.5 * (speed * speed + stiffness * height * height)

    @cosim.every(0.3, does="discrete")
    def count(counts, counts_next):
        counts_next[0] = counts + 1

    @cosim.witness(direction="falling")
    def low(height):
        return height

    @cosim.on(low, does="unrestricted")
    def push(speed, speed_next):
        speed_next[0] = 1.01 * speed


def delayed_swing() -> cosim.System:
    """A swing, and its height of 50 ms ago."""
    model = cosim.Model("swing")
    model.add(Swing, "swing")
    model.add("measures.delay", "late", source="swing.height", delay=0.05)
    return model.build()
