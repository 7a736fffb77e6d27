"""Quantizer, comparison, logic and switch: their values and their times of switching."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim.testing import MeasureContract
from cosim_signals.comparison import Comparison
from cosim_signals.logic import Logic
from cosim_signals.quantizer import Quantizer
from cosim_signals.switch import Switch


class TestQuantizer(MeasureContract):
    make = staticmethod(lambda: Quantizer(interval=0.3))


class TestComparison(MeasureContract):
    make = staticmethod(lambda: Comparison(threshold=0.4))


class TestLogic(MeasureContract):
    make = staticmethod(lambda: Logic(operator="xor"))


class TestSwitch(MeasureContract):
    make = staticmethod(lambda: Switch())


def two_waves() -> cosim.Model:
    model = cosim.Model("waves")
    model.add("measures.sinusoid", "wave", amplitude="2 V", frequency=3.0)
    model.add("measures.sinusoid", "other", amplitude="1500 mV", frequency=5.0, phase=1.0)
    return model


def simulator_with_area(model: cosim.Model, name: str) -> cosim.Simulator:
    model.add("measures.integrate", "area", source=name)
    return cosim.Simulator(model.build(), integrator="integrators.dormand_prince", accuracy=1e-9)


def integral(law: object, until: float) -> float:
    """Integrate a law of the two waves with the midpoint rule."""
    t = (np.arange(2_000_000) + 0.5) * until / 2_000_000
    wave, other = 2.0 * np.sin(3.0 * t), 1.5 * np.sin(5.0 * t + 1.0)
    return float(np.mean(law(wave, other))) * until


def test_a_quantizer_changes_half_way_between_its_levels() -> None:
    model = two_waves()
    model.add("signals.quantizer", "block", source="wave", interval="300 mV")
    simulator = simulator_with_area(model, "block")
    simulator.advance_to(2.5)
    expected = integral(lambda wave, other: 0.3 * np.floor(wave / 0.3 + 0.5), 2.5)
    assert simulator.state.realize()["area"] == pytest.approx(expected, abs=2e-6)
    assert simulator.state.system.signal("block").units == ("V",)
    t = np.linspace(0.0, 2.5, 1_000_001)
    levels = np.floor(2.0 * np.sin(3.0 * t) / 0.3 + 0.5)
    changes = [event for event in simulator.events if event.cause == cosim.EventCause.TRIGGERED]
    assert len(changes) == np.count_nonzero(np.diff(levels))
    first = next(event.time for event in changes)
    assert first == pytest.approx(math.asin(0.075) / 3.0, abs=1e-8)


def test_a_quantizer_follows_jumps_across_several_levels() -> None:
    model = cosim.Model("sampled")
    model.add("measures.sinusoid", "wave", amplitude=2.0, frequency=3.0)
    model.add("measures.sample_and_hold", "held", source="wave", period=0.2)
    model.add("signals.quantizer", "block", source="held", interval=0.1)
    simulator = simulator_with_area(model, "block")
    simulator.advance_to(2.1)
    samples = 2.0 * np.sin(3.0 * 0.2 * np.arange(11))
    expected = 0.1 * np.floor(samples / 0.1 + 0.5)
    assert simulator.state.realize()["block"] == pytest.approx(expected[-1], abs=1e-14)
    assert simulator.state["area"] == pytest.approx(0.2 * expected[:-1].sum() + 0.1 * expected[-1], abs=1e-12)


def test_a_comparison_with_a_signal_and_with_a_number() -> None:
    for values, law in (
        ({"second": "other"}, lambda wave, other: wave > other),
        ({"second": "other", "threshold": "-1 V"}, lambda wave, other: wave - other > -1.0),
        ({"threshold": "500 mV"}, lambda wave, other: wave > 0.5),
    ):
        model = two_waves()
        model.add("signals.comparison", "block", first="wave", **values)
        simulator = simulator_with_area(model, "block")
        simulator.advance_to(4.0)
        assert simulator.state.realize()["area"] == pytest.approx(integral(law, 4.0), abs=4e-6), values


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("operator", "law"),
    [
        ("and", np.logical_and),
        ("or", np.logical_or),
        ("xor", np.logical_xor),
        ("nand", lambda a, b: ~(a & b)),
        ("nor", lambda a, b: ~(a | b)),
    ],
)
@pytest.mark.parametrize("is_compared", [True, False])
def test_logic_of_waves_and_of_comparisons(operator: str, law: object, is_compared: bool) -> None:
    model = cosim.Model("logic")
    model.add("measures.sinusoid", "wave", amplitude=2.0, frequency=3.0)
    model.add("measures.sinusoid", "other", amplitude=1.5, frequency=5.0, phase=1.0)
    names = ("wave", "other")
    if is_compared:  # then events of the logic follow from events of the same instant
        for name in names:
            model.add("signals.comparison", f"{name}_high", first=name, threshold=0.5)
        names = ("wave_high", "other_high")
    model.add("signals.logic", "block", first=names[0], second=names[1], operator=operator)
    simulator = simulator_with_area(model, "block")
    simulator.advance_to(4.0)
    expected = integral(lambda wave, other: law(wave > 0.5, other > 0.5), 4.0)
    assert simulator.state.realize()["area"] == pytest.approx(expected, abs=4e-6)


def test_a_switch_passes_one_of_two_signals() -> None:
    model = two_waves()
    model.add("signals.pulse", "condition", period=0.5, width=0.4)
    model.add("signals.switch", "block", condition="condition", first="wave", second="other")
    simulator = simulator_with_area(model, "block")
    simulator.advance_to(3.0)
    t = (np.arange(3_000_000) + 0.5) * 1e-6
    law = np.where(np.mod(t, 0.5) < 0.2, 2.0 * np.sin(3.0 * t), 1.5 * np.sin(5.0 * t + 1.0))
    assert simulator.state.realize()["area"] == pytest.approx(float(np.mean(law)) * 3.0, abs=1e-8)
    assert simulator.state["block.value_dot"] == pytest.approx(5.0 * 1.5 * math.cos(5.0 * 3.0 + 1.0))
    assert simulator.state.system.signal("block").units == ("V",)


def test_a_switch_between_different_quantities_is_refused() -> None:
    model = two_waves()
    model.add("measures.constant", "force", value="3 N")
    model.add("signals.switch", "block", condition="wave", first="wave", second="force")
    with pytest.raises(cosim.ModelError, match="'force'.*N, V is needed"):
        model.build()
