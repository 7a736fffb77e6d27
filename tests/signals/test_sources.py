"""Sources of signals, compared with their closed forms."""

import math

import numpy as np
import pytest

import cosim
from cosim.testing import MeasureContract
from cosim_signals.chirp import Chirp
from cosim_signals.pulse import Pulse
from cosim_signals.ramp import Ramp
from cosim_signals.step import Step


class TestStep(MeasureContract):
    make = staticmethod(lambda: Step(height=2.0, offset=0.5, start_time=0.5))


class TestRamp(MeasureContract):
    make = staticmethod(lambda: Ramp(height=2.0, duration=0.2, start_time=0.4))


class TestPulse(MeasureContract):
    make = staticmethod(lambda: Pulse(amplitude=2.0, period=0.1, width=0.3, start_time=0.05))


class TestChirp(MeasureContract):
    make = staticmethod(
        lambda: Chirp(amplitude=2.0, start_frequency=0.5, end_frequency=3.0, duration=0.6, start_time=0.1)
    )


class Area(cosim.Component):
    """The integral of a source, which is exact only if no step crosses a break."""

    source = cosim.source()
    area = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(source, area_dot):
        area_dot[0] = source


def area_of(kind: str, until: float, **values: object) -> float:
    model = cosim.Model("area")
    model.add(kind, "wave", **values)
    model.add(Area, "sum", source="wave")
    result = model.simulate(until=until, integrator="integrators.dormand_prince", accuracy=1e-6)
    return float(result["sum.area"][-1])


def test_the_area_under_a_step_is_exact() -> None:
    area = area_of("signals.step", 1.0, height=3.0, offset=1.0, start_time=1.0 / 3.0)
    assert area == pytest.approx(1.0 / 3.0 + 4.0 * 2.0 / 3.0, rel=1e-13)


def test_the_area_under_a_ramp_is_exact() -> None:
    area = area_of("signals.ramp", 2.0, height=3.0, offset=-1.0, start_time=0.3, duration=0.7)
    assert area == pytest.approx(-2.0 + 0.5 * 0.7 * 3.0 + 3.0, rel=1e-13)


def test_the_area_under_pulses_is_exact() -> None:
    area = area_of("signals.pulse", 1.0, amplitude=2.0, period=0.1, width=0.3, start_time=0.05)
    # Nine pulses end before 0.95 and the tenth lasts from there to 0.98.
    assert area == pytest.approx(10 * 2.0 * 0.03, rel=1e-12)


def test_pulses_are_on_for_the_width_of_each_period() -> None:
    model = cosim.Model("pulses")
    model.add("signals.pulse", "wave", amplitude=2.0, offset=1.0, period=0.1, width="30 %", start_time=0.05)
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    for t in (0.04, 0.06, 0.081, 0.149, 0.151, 0.179, 0.181, 0.96, 0.99):
        simulator.advance_to(t)
        on = t >= 0.05 and math.fmod(t - 0.05, 0.1) < 0.03
        assert simulator.state.realize()["wave"] == (3.0 if on else 1.0), t


@pytest.mark.parametrize("start", [0.0, 0.05, 0.08, 0.15, 0.37])
def test_a_run_may_start_at_any_time_of_a_pulse(start: float) -> None:
    model = cosim.Model("pulses")
    model.add("signals.pulse", "wave", amplitude=1.0, period=0.1, width=0.3, start_time=0.05)
    state = model.build().default_state()
    state.set_time(start)
    simulator = cosim.Simulator(state.system, state, accuracy=1e-6)
    simulator.initialize()
    for t in (start + 0.011, start + 0.043, start + 0.115):
        simulator.advance_to(t)
        on = t >= 0.05 and math.fmod(t - 0.05, 0.1) < 0.03
        assert simulator.state.realize()["wave"] == float(on), t


def test_a_chirp_ends_at_its_last_frequency() -> None:
    model = cosim.Model("chirp")
    model.add(
        "signals.chirp", "wave", amplitude="3 N", start_frequency=1.0, end_frequency="5 Hz", duration=2.0
    )
    system = model.build()
    state = system.default_state()
    for t in (0.0, 0.7, 1.9, 2.6):
        state.set_time(t)
        s = min(t, 2.0)
        turns = s + 0.5 * (5.0 - 1.0) / 2.0 * s * s + 5.0 * (t - s)
        rate = 2.0 * math.pi * (1.0 + 2.0 * s)
        state.realize()
        assert state["wave"] == pytest.approx(3.0 * math.sin(2.0 * math.pi * turns), abs=1e-12)
        assert state["wave.value_dot"] == pytest.approx(
            3.0 * rate * math.cos(2.0 * math.pi * turns), abs=1e-9
        )
    assert system.signal("wave").units == ("N",)


def test_higher_derivatives_of_a_chirp() -> None:
    model = cosim.Model("chirp")
    model.add("signals.chirp", "wave", amplitude=2.0, start_frequency=0.3, end_frequency=2.0, duration=4.0)
    state = model.build().default_state()
    h, names = 1e-4, ("value_dot", "value_dot2", "value_dot3")

    def derivatives_at(t: float) -> list[float]:
        state.set_time(t)
        state.realize()
        return [state[f"wave.{name}"] for name in names]

    for t in (0.9, 4.7):
        quotient = (np.array(derivatives_at(t + h)) - np.array(derivatives_at(t - h))) / (2.0 * h)
        assert derivatives_at(t)[1:] == pytest.approx(quotient[:2], rel=1e-5)


@pytest.mark.parametrize(
    ("period", "width"), [("10 ms", 0.3), ("1/3 s", 0.5), (0.7, "70 %"), ("0.1 s", 1 / 3)]
)
def test_edges_of_pulses_are_rational_times(period, width):
    """A sampler whose ticks coincide with the rising edges always reads the value before them."""
    model = cosim.Model("pulses")
    pulse = model.add("signals.pulse", "pulse", period=period, width=width)
    held = model.measure("measures.sample_and_hold", "held", source=pulse, period=period, offset=period)
    model.measure("measures.maximum", "highest", source=held)
    simulator = cosim.Simulator(model.build(), accuracy=1e-6, event_limit=3000)
    exact_period = cosim.kit.exact_quantity(period, "s")
    exact_width = cosim.kit.exact_quantity(float(pulse.width), "1")
    simulator.advance_to(float(999 * exact_period))
    times = [event.time for event in simulator.events if event.handler == "pulse.change"]
    expected = [float((i + part) * exact_period) for i in range(999) for part in (0, exact_width)][1:]
    assert times == expected
    assert simulator.state["highest"] == 0.0
