"""Blocks with kinks, switches and samples, compared with their laws."""

import math

import numpy as np
import pytest

import cosim
from cosim.testing import MeasureContract
from cosim_signals.dead_zone import DeadZone
from cosim_signals.hysteresis import Hysteresis
from cosim_signals.limiter import Limiter
from cosim_signals.unit_delay import UnitDelay


class TestLimiter(MeasureContract):
    make = staticmethod(lambda: Limiter(lower=-0.7, upper=0.9))


class TestDeadZone(MeasureContract):
    make = staticmethod(lambda: DeadZone(lower=-0.3, upper=0.5))


class TestHysteresis(MeasureContract):
    make = staticmethod(lambda: Hysteresis(lower=-0.2, upper=0.4, on_value=3.0))


class TestUnitDelay(MeasureContract):
    make = staticmethod(lambda: UnitDelay(period=0.1, offset=0.05))


def driven_by_a_wave(kind: str, **values: object) -> cosim.Simulator:
    model = cosim.Model("driven")
    model.add("measures.sinusoid", "wave", amplitude="2 V", frequency=3.0)
    model.add(kind, "block", source="wave", **values)
    model.add("measures.integrate", "area", source="block")
    return cosim.Simulator(model.build(), integrator="integrators.dormand_prince", accuracy=1e-9)


def integral(law: object, until: float) -> float:
    """Integrate a law of the source `2 sin 3t` with the midpoint rule."""
    t = (np.arange(2_000_000) + 0.5) * until / 2_000_000
    return float(np.mean(law(2.0 * np.sin(3.0 * t)))) * until


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("signals.limiter", lambda x: np.clip(x, -1.0, 1.5)),
        ("signals.dead_zone", lambda x: np.maximum(x - 1.5, 0.0) + np.minimum(x + 1.0, 0.0)),
    ],
)
def test_kinks_are_located(kind: str, law: object) -> None:
    simulator = driven_by_a_wave(kind, lower="-1000 mV", upper="1.5 V")
    simulator.advance_to(2.5)
    assert simulator.state.realize()["area"] == pytest.approx(integral(law, 2.5), abs=2e-8)
    assert simulator.state["block.kinks"] == 5  # four in the first turn, one upwards in the second


def test_a_lower_bound_above_the_upper_one_is_refused() -> None:
    simulator = driven_by_a_wave("signals.limiter", lower=2.0, upper=1.0)
    with pytest.raises(cosim.CosimError, match="lower bound"):
        simulator.initialize()


def test_a_hysteresis_switches_at_its_thresholds() -> None:
    simulator = driven_by_a_wave(
        "signals.hysteresis", lower="-1 V", upper="1 V", on_value="3 N", off_value="-1 N"
    )
    up, down = math.asin(0.5) / 3.0, (math.pi + math.asin(0.5)) / 3.0
    simulator.advance_to(2.0)
    state = simulator.state.realize()
    assert state["area"] == pytest.approx(-up + 3.0 * (down - up) - (2.0 - down), abs=1e-8)
    assert state.system.signal("block").units == ("N",)
    assert state.system.signal("block.upper").units == ("V",)


@pytest.mark.parametrize(("starts_on", "value"), [(False, 0.0), (True, 1.0)])
def test_a_hysteresis_starts_on_or_off(starts_on: bool, value: float) -> None:
    simulator = driven_by_a_wave("signals.hysteresis", lower=-1.0, upper=1.0, starts_on=starts_on)
    simulator.initialize()
    assert simulator.state.realize()["block"] == value


def test_a_unit_delay_is_one_sample_late() -> None:
    simulator = driven_by_a_wave("signals.unit_delay", period=0.1, offset=0.05, value="7 V")
    for t in (0.01, 0.07, 0.16, 0.24, 0.26, 1.01):
        simulator.advance_to(t)
        last = math.floor((t - 0.05) / 0.1) - 1
        expected = 7.0 if last < 0 else 2.0 * math.sin(3.0 * (0.05 + 0.1 * last))
        assert simulator.state.realize()["block"] == pytest.approx(expected, abs=1e-12)


def test_a_hysteresis_switches_at_jumps_of_its_source() -> None:
    model = cosim.Model("pulses")
    model.add("signals.pulse", "pulse", amplitude=5.0, period=0.5, width=0.4)
    model.add("signals.hysteresis", "relay", source="pulse", lower=1.0, upper=2.0)
    model.add("measures.integrate", "area", source="relay")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.advance_to(2.1)
    assert simulator.state.realize()["area"] == pytest.approx(4 * 0.2 + 0.1, rel=1e-12)
