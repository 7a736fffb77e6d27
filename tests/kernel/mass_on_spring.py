"""A component with a declaration of each kind, and what is made of it: a model, a system, a simulator."""

import cosim


class Mass(cosim.Component):
    """A mass on a spring. Law: v' = -stiffness x; the constructor computes `sum` of its table."""

    stiffness = cosim.parameter(unit="N/m", minimum=0.0, default=100.0)
    frame = cosim.parameter(shape=3, default=(1.0, 2.0, 3.0))
    linear = cosim.option(True)
    source = cosim.source(optional=True)
    x = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")
    n = cosim.discrete(dtype=int)
    pull = cosim.output(unit="N")
    threshold = 3.0
    note: str

    def __init__(self, table=(1.0,), **values):
        super().__init__(**values)
        self.table = tuple(table)
        self.sum = sum(table) * self.values.numbers["stiffness"][0]

    @cosim.kernel
    def derivatives(x, v, stiffness, x_dot, v_dot, pull):
        pull[0] = -stiffness * x
        x_dot[0] = v
        v_dot[0] = -stiffness * x


def model_of(part):
    """A model of one part, ``k``."""
    model = cosim.Model("m")
    model.add(part, "k")
    return model


def system_of_mass():
    """The system of a `Mass`."""
    return model_of(Mass()).build()


def state_of_mass():
    """The default State of a system of a `Mass`."""
    return system_of_mass().default_state()


def simulator_of_mass():
    """A simulator of a `Mass` with the default integrator."""
    return cosim.Simulator(system_of_mass())
