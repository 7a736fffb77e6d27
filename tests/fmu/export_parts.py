"""Components that no plugin registers: an exported FMU carries this file."""

import cosim


class Oscillator(cosim.Component):
    """A mass on a spring with a damper, pulled by a force."""

    mass = cosim.parameter(
        unit="kg", default=2.0, minimum=0.1, maximum=1e3, description='of the <body> & its "hook"'
    )
    stiffness = cosim.parameter(unit="N/m", default=50.0)
    damping = cosim.parameter(unit="N.s/m", default=0.4)
    places = cosim.parameter(unit="m", shape=3, default=(0.1, 0.2, 0.1 + 0.2))
    turn = cosim.parameter(unit="1", shape=(2, 2), default=((1.0, 2.0), (3.0, 4.0)))
    force = cosim.input(unit="N", description="from outside")
    wind = cosim.input(unit="N", shape=2)
    x = cosim.auxiliary_state(unit="m", start=0.1, nominal=0.5)
    v = cosim.auxiliary_state(unit="m/s")
    dissipated_energy = cosim.auxiliary_state(unit="J")
    position = cosim.output(unit="m")
    acceleration = cosim.output(unit="m/s2")

    @cosim.kernel
    def derivatives(
        x, v, force, wind, mass, stiffness, damping, acceleration, x_dot, v_dot, dissipated_energy_dot
    ):
        x_dot[0] = v
        a = (force + wind[0] - wind[1] - stiffness * x - damping * v) / mass
        v_dot[0] = a
        acceleration[0] = a
        dissipated_energy_dot[0] = damping * v * v

    @cosim.kernel
    def place(x, places, position):
        position[0] = x + places[2]


class Ball(cosim.Component):
    """A bouncing ball that counts its bounces and ends the run at `limit` of them."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    restitution = cosim.parameter(unit="1", default=0.7, minimum=0.0, maximum=1.0)
    limit = cosim.parameter(unit="1", default=1e9)
    bounces = cosim.discrete(dtype=int, description="since the start")
    samples = cosim.discrete(unit="m")
    top = cosim.output(unit="m")

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.kernel
    def see(height, top):
        top[0] = height + 0.1

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, restitution, bounces, speed_next, bounces_next):
        speed_next[0] = -restitution * speed
        bounces_next[0] = bounces + 1

    @cosim.every(0.05, does="discrete")
    def sample(height, samples, samples_next):
        samples_next[0] = samples + height

    @cosim.every(0.01, does="publish")
    def give_up(self, state):
        if state[f"{self.name}.bounces"] >= state[f"{self.name}.limit"]:
            return cosim.EventStatus.reached_termination("enough")
        return None


class Fuse(cosim.Component):
    """Fails when its input is above a level."""

    level = cosim.parameter(unit="1", default=1.0)
    signal = cosim.input(unit="1")
    through = cosim.output(unit="1")
    passed = cosim.auxiliary_state(unit="s")

    @cosim.kernel
    def derivatives(signal, level, through, passed_dot):
        if signal > 5.0:
            raise ValueError("more than 100 % of \N{GREEK SMALL LETTER MU}, %s %n")
        if signal > level:
            raise ValueError("the fuse has blown")
        through[0] = signal
        passed_dot[0] = signal


class SampledTwice(cosim.Component):
    """Ticks every 100 ms and every 300 ms, and counts the slow ticks that coincide with a fast one."""

    level = cosim.auxiliary_state()
    fast = cosim.discrete(dtype=int)
    slow = cosim.discrete(dtype=int)
    together = cosim.discrete(dtype=int)
    height = cosim.output()

    @cosim.kernel
    def rise(level_dot):
        level_dot[0] = 1.0

    @cosim.kernel
    def show(fast, height):
        height[0] = fast

    @cosim.every("100 ms", does="discrete")
    def sample(fast, fast_next):
        fast_next[0] = fast + 1

    @cosim.every("300 ms", does="discrete")
    def sample_slowly(fast, slow, together, slow_next, together_next):
        slow_next[0] = slow + 1
        together_next[0] = together + (1 if fast == 3 * slow else 0)
