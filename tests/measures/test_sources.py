"""Constants, time, sinusoids, sums and integrals: values, derivatives, stages, Simbody."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim_measures.integrate import Integrate
from cosim_measures.plus import Plus
from cosim_measures.sinusoid import Sinusoid

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "delay_linear.json").read_text())


class Driver(cosim.Measure):
    """A value without a derivative."""

    @cosim.kernel
    def number(t, value):
        value[0] = t * t


def build():
    """Return a system with one measure of each kind."""
    model = cosim.Model("measures")
    model.add("measures.constant", "three", value=3.0)
    model.add("measures.time", "clock")
    model.add("measures.sinusoid", "wave", amplitude=2.0, frequency=5.0, phase=0.4)
    model.add("measures.plus", "sum", first="wave", second="clock")
    model.add("measures.minus", "difference", first="wave", second="three")
    model.add("measures.scale", "scaled", source="wave", factor=-0.5)
    model.add("measures.integrate", "area", source="wave", value=-1.0)
    model.add(Driver, "square")
    model.add("measures.plus", "unknown", first="square", second="wave")
    return model.build()


def test_values_and_derivatives() -> None:
    state = build().default_state()
    t = 0.7
    state.set_time(t)
    state.realize(cosim.Stage.REPORT)
    wave, rate = 2.0 * math.sin(5.0 * t + 0.4), 10.0 * math.cos(5.0 * t + 0.4)
    expected = {
        "three": (3.0, 0.0),
        "clock": (t, 1.0),
        "wave": (wave, rate),
        "sum": (wave + t, rate + 1.0),
        "difference": (wave - 3.0, rate),
        "scaled": (-0.5 * wave, -0.5 * rate),
        "area": (-1.0, wave),
    }
    for name, pair in expected.items():
        measure = state.system.parts[name]
        assert (measure.read(state), measure.read(state, 1)) == pytest.approx(pair)


def test_a_derivative_that_a_source_lacks_is_nan_or_an_error() -> None:
    state = build().default_state()
    state.realize(cosim.Stage.REPORT)
    assert math.isnan(state.system.parts["unknown"].read(state, 1))
    with pytest.raises(ValueError, match="square: derivative 1.*0"):
        state.system.parts["square"].read(state, 1)


def test_stages_and_numbers_of_derivatives() -> None:
    system = build()
    assert system.parts["clock"].depends_on_stage(system) == cosim.Stage.TIME
    assert system.parts["area"].depends_on_stage(system) == cosim.Stage.EMPTY
    assert system.parts["area"].depends_on_stage(system, 1) == cosim.Stage.TIME
    assert (Driver.number_of_derivatives(), Plus.number_of_derivatives()) == (0, 3)
    with pytest.raises(cosim.StageError):
        system.parts["wave"].read(system.default_state())


def test_two_objects_are_not_the_same_measure() -> None:
    wave, second_wave = Sinusoid(), Sinusoid()
    assert wave.is_same_measure(wave)
    assert not wave.is_same_measure(second_wave)
    assert math.isnan(wave.default_value)


def test_an_integral_agrees_with_simbody() -> None:
    reference = REFERENCE["sibling_measures"]
    model = cosim.Model("integral")
    model.add("measures.sinusoid", "wave", amplitude=1.5, frequency=2.0 * math.pi, phase=0.3)
    model.add("measures.integrate", "area", source="wave", value=-0.25)
    simulator = cosim.Simulator(model.build(), accuracy=1e-9)
    simulator.initialize()
    for row in reference["rows"]:
        simulator.advance_to(row["t"])
        assert simulator.state["wave"] == pytest.approx(row["source"], abs=1e-13)
        assert simulator.state["wave.value_dot"] == pytest.approx(row["source_d1"], abs=1e-12)
        assert simulator.state["area"] == pytest.approx(row["integral"], abs=1e-6)


def test_an_integral_has_a_start_value() -> None:
    assert Integrate(source="wave", value=2.0).value == 2.0
    assert np.isfinite(Integrate(source="wave").value)
