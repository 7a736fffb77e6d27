"""A wave as the source of measures, and runs of models."""

import math

import cosim
from cosim import Stage


class Square(cosim.Measure):
    """A measure without a derivative. Law: value = source^2."""

    source = cosim.source()

    @cosim.kernel
    def value(source, value):
        value[0] = source * source


def add_wave(model):
    """Add `wave`, 1.5 sin(2 pi t + 0.3), and its integral `wave_area`, which needs steps."""
    model.add("measures.sinusoid", "wave", amplitude=1.5, frequency=2.0 * math.pi, phase=0.3)
    model.add("measures.integrate", "wave_area", source="wave")


def simulated(model, until, **options):
    """Return the simulator of a run, realized to Report at its end."""
    simulator = cosim.Simulator(model.build(), **{"accuracy": 1e-8, **options})
    simulator.initialize()
    simulator.advance_to(until)
    simulator.state.realize(Stage.REPORT)
    return simulator
