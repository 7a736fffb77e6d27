"""Delay differential equations with known solutions, as models; `felt` is the delayed state."""

import math
from fractions import Fraction

import cosim
from cosim_measures.delay import Delay
from cosim_measures.variable_delay import VariableDelay


class Decay(cosim.Component):
    """y' = -felt."""

    felt = cosim.source()
    y = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(felt, y_dot):
        y_dot[0] = -felt


class CosineHistory(cosim.Measure):
    """Law: value = cos(time)."""

    time = cosim.source()

    @cosim.kernel
    def value(time, value):
        value[0] = math.cos(time)

    @cosim.kernel
    def derivative(time, time_dot, value_dot):
        value_dot[0] = -math.sin(time) * time_dot


class Neves(cosim.Component):
    """y' = y felt / t."""

    felt = cosim.source()
    y = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(t, felt, y, y_dot):
        y_dot[0] = y * felt / t


class Lag(cosim.Measure):
    """Law: value = t - ln y."""

    y = cosim.source()
    value = cosim.cache_slot(unit="s")
    value_dot = cosim.cache_slot()

    @cosim.kernel
    def lag(t, y, value):
        value[0] = t - math.log(y)

    @cosim.kernel
    def derivative(y, y_dot, value_dot):
        value_dot[0] = 1.0 - y_dot / y


MACKEY_GLASS_DELAY, MACKEY_GLASS_POWER, MACKEY_GLASS_START = (
    2.0,
    9.65,
    0.5,
)  # and in the class: a page quotes it


class MackeyGlass(cosim.Component):
    """y' = 2 felt / (1 + felt^9.65) - y."""

    felt = cosim.source()
    y = cosim.auxiliary_state(start=0.5)

    @cosim.kernel
    def derivatives(felt, y, y_dot):
        y_dot[0] = 2.0 * felt / (1.0 + math.pow(felt, 9.65)) - y


def decay(delay=1.0, **options):
    """Return the model of y' = -y(t - delay), y = 1 before 0."""
    model = cosim.Model("decay")
    model.add(Decay, "plant", felt="felt")
    model.add(Delay, "felt", source="plant.y", delay=delay, **options)
    return model


def cosine(**options):
    """Return the model of y' = -y(t - pi/2) with the history cos t: y = cos t, without a break."""
    model = decay(0.5 * math.pi, history="history", **options)
    model.add(CosineHistory, "history", time="felt.delayed_time")
    return model


def neves(**options):
    """Return a model with a delay that depends on the state: from t = 1 on y = t, from e on exp(t / e)."""
    model = cosim.Model("neves")
    model.add(Neves, "plant", felt="felt")
    model.add(Lag, "lag", y="plant.y")
    model.add(VariableDelay, "felt", source="plant.y", delay="lag", **options)
    return model


def mackey_glass(**options):
    """Return the model of Mackey and Glass."""
    model = cosim.Model("mackey_glass")
    model.add(MackeyGlass, "plant", felt="felt")
    model.add(Delay, "felt", source="plant.y", delay=MACKEY_GLASS_DELAY, **options)
    return model


def decay_exactly(t, delay):
    """Return the solution of y' = -y(t - delay), y = 1 before 0."""
    t, delay = Fraction(str(t)), Fraction(str(delay))
    total, factorial, k = Fraction(1), 1, 1
    while t > (k - 1) * delay:
        factorial *= k
        total += (-1) ** k * (t - (k - 1) * delay) ** k / factorial
        k += 1
    return float(total)


def started(model, start=0.0, **options):
    """Return an initialized simulator that starts at a time."""
    system = model.build()
    state = system.default_state()
    state.set_time(start)
    simulator = cosim.Simulator(system, state, **options)
    simulator.initialize()
    return simulator
